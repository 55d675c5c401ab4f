import type { Store } from "../../app.js";
import { messageOf } from "../../lib/errors.js";

/** A worker that was not heard of for longer is still alive as long as its process is. */
const beatMs = 30_000;

/**
 * Says on the board that this process drives the run, for as long as it does. It is a sign for people: where it cannot
 * be written, that is told once and the run goes on.
 */
export function announceWorker(store: Store, runId: string, say: (text: string) => void): { end(): Promise<void> } {
  let told = false;
  const quietly = async (work: Promise<void>) => {
    try {
      await work;
    } catch (error) {
      if (!told) say(`who works on the run cannot be recorded: ${messageOf(error)}`);
      told = true;
    }
  };
  const registered = quietly(store.workers.register(runId));
  const timer = setInterval(() => void quietly(store.workers.beat(runId)), beatMs);
  timer.unref();
  return {
    end: async () => {
      clearInterval(timer);
      await registered;
      await quietly(store.workers.end(runId));
    },
  };
}
