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

/** A moment as every JSON that is told to the world has it. null: unknown, or beyond all dates. */
export function toIsoTime(at: number | string | null): string | null {
  const date = at === null ? null : new Date(at);
  return date === null || Number.isNaN(date.getTime()) ? null : date.toISOString();
}
