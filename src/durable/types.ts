/**
 * The kernel's words. A machine is a pure function from (state, arrival) to (state, effects now owed). Everything that
 * happens to it is an arrival; everything it wants done is an owed effect with a key of its own.
 */
export interface Keyed {
  readonly key: string;
}
/** `lateMs`: how long the step before it took to be recorded, where that was a while: another program may have the database. */
export type Stamped<E> = E & { readonly at: number; readonly lateMs?: number };

export interface Next<S, F, R> {
  readonly state: S;
  readonly effects: readonly F[];
  /** Keys of owed effects nobody waits for any more: dropped from owed, their performer aborted, their result ignored. */
  readonly cancel?: readonly string[];
  readonly reports?: readonly R[];
}
export type Transition<S, E, F, R> = (state: S, event: Stamped<E>) => Next<S, F, R>;

/** A performed effect: the event it settles with, and the inbox row it took, if it waited for one. */
export interface Settled<E> {
  readonly event: E;
  readonly signal?: number;
}
/** Never throws by contract; a throw that happens all the same is turned into an event by `crashed`. `again`: the effect was owed before this process started. */
export type Perform<E, F> = (
  effect: F,
  context: { readonly signal: AbortSignal; readonly again: boolean },
) => Promise<Settled<E>>;

export interface Row<S, F> {
  readonly state: S;
  readonly owed: readonly F[];
}
export interface Step<S, E, F, R> {
  readonly arrival: Stamped<E>;
  readonly settled: string | null;
  readonly signal: number | null;
  readonly state: S;
  readonly owed: readonly F[];
  readonly reports: readonly R[];
}

/** One machine's durable row and history. */
export interface Log<S, E, F, R> {
  /** Raises the epoch, so that any older driver is fenced; null: the machine does not exist yet. */
  open(): Promise<Row<S, F> | null>;
  /** One transaction: arrival, state, owed, reports and the rows they project to. Throws Fenced when a newer driver has opened the machine, Fenced or Driven when another has made one that was new: nothing is written then. */
  commit(step: Step<S, E, F, R>): Promise<void>;
}

/** What every machine understands besides its own events. `since`: nobody is known to have driven it after that. */
export type KernelEvent =
  | { readonly type: "started"; readonly since?: number }
  | { readonly type: "resumed"; readonly since?: number };

export interface Drive<S, E, F extends Keyed, R> {
  readonly log: Log<S, E | KernelEvent, F, R>;
  readonly initial: S;
  readonly transition: Transition<S, E | KernelEvent, F, R>;
  readonly perform: Perform<E, F>;
  readonly crashed: (effect: F, error: unknown) => E;
  readonly now: () => number;
  /** What the machine has to know with whatever arrives, before a signal of it can be recorded. */
  readonly alongside?: () => object;
  /** When an earlier process is last known to have been at work on it; null: there was none. */
  readonly drivenUntil?: number | null;
  /** Aborted: every performer is aborted, drive returns with what is still owed left owed. */
  readonly stop?: AbortSignal;
  /** After each commit, with the state it recorded. */
  readonly onCommit?: (state: S) => void;
}
