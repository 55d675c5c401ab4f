import type { Next } from "./next.js";

interface Keyed {
  readonly key: string;
}

/** Where a machine's state mirrors what it owes. */
interface Book<Entry> {
  readonly read: () => readonly Entry[];
  readonly write: (owed: readonly Entry[]) => void;
}

/** Of a machine whose state tells what it owes in its own way. */
const none = { read: () => [], write: () => undefined };

/**
 * What one transition does to what its machine owes. An effect with an entry is mirrored in the state, so that a result
 * nobody waits for is known as such and every effect can be ended. What is owed and dropped in the same step never begins.
 */
export class Account<Effect extends Keyed, Entry extends Keyed = never> {
  readonly #book: Book<Entry>;
  readonly #effects: Effect[] = [];
  readonly #dropped: string[] = [];

  constructor(book: Book<Entry> = none) {
    this.#book = book;
  }

  owe(effect: Effect, entry?: Entry): void {
    this.#effects.push(effect);
    if (entry) this.#book.write([...this.#book.read(), entry]);
  }
  /** The effect with this key is settled; null when nobody waits for it. */
  settle(key: string): Entry | null {
    const owed = this.#book.read();
    const entry = owed.find((one) => one.key === key);
    if (!entry) return null;
    this.#book.write(owed.filter((one) => one !== entry));
    return entry;
  }
  /** Nobody waits for it any more, if anybody did. */
  cancel(key: string): void {
    if (this.settle(key)) this.drop(key);
  }
  /** The same for an effect without an entry. */
  drop(key: string): void {
    this.#dropped.push(key);
  }
  /** The entry of the same key becomes this one. */
  replace(entry: Entry): void {
    this.#book.write(this.#book.read().map((one) => (one.key === entry.key ? entry : one)));
  }

  next<State, Report>(state: State, reports: readonly Report[]): Next<State, Effect, Report> {
    const gone = new Set(this.#dropped);
    const effects = this.#effects.filter(({ key }) => !gone.has(key));
    return { state, effects, cancel: this.#dropped, reports };
  }
}
