import { setTimeout as wait } from "node:timers/promises";

/** The machine's own time. A sleep ends by the wall clock, so that a laptop that slept wakes up in time. */
export const systemClock = {
  now: (): number => Date.now(),
  async sleep(until: number, signal?: AbortSignal): Promise<void> {
    for (let left = until - Date.now(); left > 0; left = until - Date.now()) {
      signal?.throwIfAborted();
      await wait(Math.min(left, 60_000), undefined, signal ? { signal } : {});
    }
  },
};
