import { asDiskFull } from "../lib/disk-full.js";
import type { Drive, Keyed, Perform, Settled } from "./types.js";

export interface Arrival<E> {
  readonly key: string;
  readonly event: E;
  readonly signal: number | null;
}
interface Running {
  readonly key: string;
  readonly abort: AbortController;
}
type Outcome<E> = { readonly settled: Settled<E> } | { readonly broken: unknown };

/**
 * The effects being performed. Arrivals queue up in the order they came; those of an effect that was aborted since are
 * dropped, told apart by the performance itself and not by its key.
 */
export class Performers<E, F extends Keyed> {
  readonly #running = new Map<string, Running>();
  readonly #arrived: { readonly from: Running; readonly outcome: Outcome<E> }[] = [];
  #wake: (() => void) | null = null;
  readonly #perform: Perform<E, F>;
  readonly #crashed: (effect: F, error: unknown) => E;
  readonly #stop: AbortSignal | undefined;
  readonly #stopped = () => this.#wake?.();

  constructor({ perform, crashed, stop }: Pick<Drive<unknown, E, F, unknown>, "perform" | "crashed" | "stop">) {
    this.#perform = perform;
    this.#crashed = crashed;
    this.#stop = stop;
    stop?.addEventListener("abort", this.#stopped);
  }

  /** Begins every owed effect that is not running. `old`: keys owed before this process began. */
  begin(owed: ReadonlyMap<string, F>, old: Set<string>): void {
    for (const effect of owed.values()) {
      if (this.#running.has(effect.key)) continue;
      const from: Running = { key: effect.key, abort: new AbortController() };
      this.#running.set(effect.key, from);
      void this.#run(effect, from, old.delete(effect.key));
    }
  }

  /** The first arrival of an effect still running; null when the stop comes first. */
  async next(): Promise<Arrival<E> | null> {
    while (!this.#stop?.aborted) {
      for (let first = this.#arrived.shift(); first !== undefined; first = this.#arrived.shift()) {
        const { from, outcome } = first;
        if (this.#running.get(from.key) !== from) continue;
        this.#running.delete(from.key);
        if ("broken" in outcome) throw outcome.broken;
        return { key: from.key, event: outcome.settled.event, signal: outcome.settled.signal ?? null };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    return null;
  }

  abort(keys: readonly string[]): void {
    for (const key of keys) {
      this.#running.get(key)?.abort.abort();
      this.#running.delete(key);
    }
  }

  /** Nothing is begun, and nothing arrives, after that. */
  close(): void {
    this.#stop?.removeEventListener("abort", this.#stopped);
    this.abort([...this.#running.keys()]);
  }

  async #run(effect: F, from: Running, again: boolean): Promise<void> {
    let outcome: Outcome<E>;
    try {
      outcome = { settled: await this.#settle(effect, from.abort.signal, again) };
    } catch (broken) {
      outcome = { broken };
    }
    this.#arrived.push({ from, outcome });
    this.#wake?.();
  }

  /** A full disk is no failure of an effect: nothing more can be recorded, and a later start performs it again. */
  async #settle(effect: F, signal: AbortSignal, again: boolean): Promise<Settled<E>> {
    try {
      return await this.#perform(effect, { signal, again });
    } catch (error) {
      const full = asDiskFull(error);
      if (full !== null) throw full;
      return { event: this.#crashed(effect, error) };
    }
  }
}
