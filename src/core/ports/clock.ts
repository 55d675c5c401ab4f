/** Time as an argument: real in the program, driven by hand in tests. */
export interface Clock {
  now(): number;
  /** Resolves at `until` (ms since the epoch); rejects with the signal's reason when aborted first. */
  sleep(until: number, signal?: AbortSignal): Promise<void>;
}
