import { Bug } from "../lib/errors.js";
import { jsonText } from "../lib/json-text.js";
import { Performers } from "./performers.js";
import type { Drive, KernelEvent, Keyed, Stamped } from "./types.js";

/**
 * Drives one machine until it owes nothing. A step is: one arrival, one transition, one commit. Nothing is begun
 * before the commit that owes it, and nothing that arrives counts before the commit that records it, so a kill at any
 * moment leaves a row from which exactly the unrecorded effects are owed again.
 */
export async function drive<S, E, F extends Keyed, R>(machine: Drive<S, E, F, R>): Promise<S> {
  const row = await machine.log.open();
  const performers = new Performers(machine);
  const driven = new Driven(machine, row?.state ?? machine.initial, row?.owed ?? []);
  const old = new Set(driven.owed.keys());
  try {
    const since = machine.drivenUntil == null ? {} : { since: machine.drivenUntil };
    if (row === null) await driven.step({ type: "started", ...since }, null);
    else if (driven.owed.size > 0) await driven.step({ type: "resumed", ...since }, null);
    while (driven.owed.size > 0) {
      performers.begin(driven.owed, old);
      const arrival = await performers.next();
      if (arrival === null) break;
      const cancelled = await driven.step(arrival.event, arrival);
      performers.abort(cancelled);
    }
    return driven.state;
  } finally {
    performers.close();
  }
}

/** What a slow disk takes is not worth a word. */
const lateFromMs = 1000;

/** The machine's row in memory; each step replaces it by what the same step committed. */
class Driven<S, E, F extends Keyed, R> {
  state: S;
  owed: ReadonlyMap<string, F>;
  readonly #machine: Drive<S, E, F, R>;
  #lateMs = 0;

  constructor(machine: Drive<S, E, F, R>, state: S, owed: readonly F[]) {
    this.#machine = machine;
    this.state = state;
    this.owed = new Map(owed.map((effect) => [effect.key, effect]));
  }

  /** Records one arrival; returns the keys that nobody waits for any more. */
  async step(
    event: E | KernelEvent,
    from: { readonly key: string; readonly signal: number | null } | null,
  ): Promise<readonly string[]> {
    const { log, transition, now, alongside, onCommit } = this.#machine;
    const late = this.#lateMs < lateFromMs ? {} : { lateMs: this.#lateMs };
    const arrival: Stamped<E | KernelEvent> = { ...asJson(event), ...alongside?.(), ...late, at: now() };
    const next = transition(this.state, arrival);
    const cancel = next.cancel ?? [];
    const owed = new Map(this.owed);
    for (const key of from === null ? cancel : [from.key, ...cancel]) owed.delete(key);
    for (const effect of next.effects) {
      if (owed.has(effect.key)) throw new Bug(`the effect ${effect.key} is owed twice`);
      owed.set(effect.key, asJson(effect));
    }
    await log.commit({
      arrival,
      settled: from?.key ?? null,
      signal: from?.signal ?? null,
      state: next.state,
      owed: [...owed.values()],
      reports: next.reports ?? [],
    });
    this.#lateMs = now() - arrival.at;
    this.state = next.state;
    this.owed = owed;
    onCommit?.(next.state);
    return cancel;
  }
}

/** What a restart would read back, so that the first use already sees the same; and whatever a stranger said, whole characters. */
function asJson<T>(value: T): T {
  return JSON.parse(jsonText(value)) as T;
}
