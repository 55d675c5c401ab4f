import type { RunContext } from "./context.js";

/** An effect that asks the tracker, and what ends its patience. */
export interface Asking {
  /** Who says so where it takes long; null: nobody. */
  readonly teller: { readonly machine: string; readonly key: string } | null;
  /** Nobody waits for the effect any more. */
  readonly signal: AbortSignal;
  /** The machine was told to stop. */
  readonly stopping: AbortSignal;
  /** How long the tracker may take all the same for what has to be told to it. */
  readonly patienceMs: number;
}

/** For what is about to be answered when a stop comes. */
const momentMs = 1_000;

/**
 * Performs one effect with a tracker that is never waited for in silence: the machine is told once of a call that takes
 * long, and a stop ends the call. Then it has failed like that of a tracker that is away, so that nothing follows from it
 * and what it was to tell stays owed.
 */
export async function askedFor<R extends Pick<RunContext, "tracker" | "inbox">, T>(
  run: R,
  asking: Asking,
  perform: (run: R) => Promise<T>,
): Promise<T> {
  const { tracker, inbox } = run;
  if (!tracker.askedBy) return await perform(run);
  const patience = openPatience(asking);
  let isTold = false;
  const onSlow = (call: string): void => {
    if (isTold || asking.teller === null) return;
    isTold = true;
    const { machine, key } = asking.teller;
    // Only the word of it is lost: what really hinders the store fails with the next commit.
    inbox.send(machine, { name: "slow", key, call }).catch(() => undefined);
  };
  try {
    return await perform({ ...run, tracker: tracker.askedBy({ signal: patience.signal, onSlow }) });
  } finally {
    patience.close();
  }
}

function openPatience({ signal, stopping, patienceMs }: Asking): { readonly signal: AbortSignal; close(): void } {
  const askedAt = Date.now();
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => over.abort(signal.reason);
  const hurry = (): void => {
    const leftMs = Math.max(momentMs, askedAt + patienceMs - Date.now());
    timer = setTimeout(() => over.abort(new Error("it was told to stop")), leftMs);
  };
  if (signal.aborted) leave();
  if (stopping.aborted) hurry();
  signal.addEventListener("abort", leave, { once: true });
  stopping.addEventListener("abort", hurry, { once: true });
  return {
    signal: over.signal,
    close: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      stopping.removeEventListener("abort", hurry);
    },
  };
}
