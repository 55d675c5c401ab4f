import { ExternalError, messageOf } from "./errors.js";

/** Who asks something outside, and may leave before there is an answer. */
interface Asker {
  readonly signal: AbortSignal;
  /** It has taken longer than a few seconds, and goes on. */
  readonly onSlow: (what: string) => void;
}

const slowMs = 5_000;

/** Left, it is a call to the tracker that failed: whether it was done nobody knows. */
export async function askTracker<T>(
  what: string,
  asker: Asker | null,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const slow = setTimeout(() => asker?.onSlow(what), slowMs).unref();
  try {
    asker?.signal.throwIfAborted();
    return await work(asker?.signal);
  } catch (error) {
    if (!asker?.signal.aborted || error instanceof ExternalError) throw error;
    const why = messageOf(asker.signal.reason);
    throw new ExternalError("tracker", `${what} gave no answer: ${why}`, { retryable: true, cause: error });
  } finally {
    clearTimeout(slow);
  }
}
