export interface Deadline {
  readonly signal: AbortSignal;
  /** The time was up, and not the outer signal first. */
  isOver(): boolean;
  close(): void;
}

/** Ends with the time or with the caller's signal, and leaves nothing behind on either. */
export function openDeadline(timeoutMs: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let over = false;
  const timer = setTimeout(() => {
    over = !controller.signal.aborted;
    controller.abort();
  }, timeoutMs);
  const stop = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) stop();
  outer?.addEventListener("abort", stop, { once: true });
  return {
    signal: controller.signal,
    isOver: () => over,
    close: () => {
      clearTimeout(timer);
      outer?.removeEventListener("abort", stop);
    },
  };
}
