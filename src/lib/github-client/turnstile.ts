/**
 * So many at once and no more; the others wait in order. Whoever is aborted while waiting leaves the line, and never
 * takes a place with him.
 */
export function openTurnstile(places: number): <T>(task: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  let taken = 0;
  const line: (() => void)[] = [];
  const enter = (signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    if (taken < places) {
      taken++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        line.splice(line.indexOf(go), 1);
        reject(signal?.reason);
      };
      const go = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      line.push(go);
      signal?.addEventListener("abort", leave, { once: true });
    });
  };
  const exit = (): void => {
    const next = line.shift();
    if (next) next();
    else taken--;
  };
  return async (task, signal) => {
    await enter(signal);
    try {
      return await task();
    } finally {
      exit();
    }
  };
}
