/**
 * Landing is serial per target within a process: one issue proposes, has its merge gated and lands before the next one
 * proposes. Two processes are kept apart by the compare-and-set of the landed line; this only saves them the lost work.
 */
export interface LandingLease {
  /** Waits for the lease; the holder asking again has it already. */
  acquire(holder: string, signal: AbortSignal): Promise<void>;
  release(holder: string): void;
}

export function createLandingLease(): LandingLease {
  let current: string | null = null;
  const waiting: { readonly holder: string; readonly grant: () => void }[] = [];
  return {
    acquire(holder, signal) {
      if (current === null || current === holder) {
        current = holder;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          waiting.splice(waiting.indexOf(entry), 1);
          reject(signal.reason);
        };
        const entry = {
          holder,
          grant: () => {
            signal.removeEventListener("abort", leave);
            resolve();
          },
        };
        signal.addEventListener("abort", leave, { once: true });
        waiting.push(entry);
      });
    },
    release(holder) {
      if (current !== holder) return;
      const next = waiting.shift();
      current = next?.holder ?? null;
      next?.grant();
    },
  };
}
