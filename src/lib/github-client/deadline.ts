export interface Deadline {
  readonly signal: AbortSignal;
  /** The time was up, and not the outer signal first. */
  isOver(): boolean;
  close(): void;
}

/** Ends with the time or, `graceMs` after it, with the caller's signal, and leaves nothing behind on either. */
export function openDeadline(timeoutMs: number, outer: AbortSignal | undefined, graceMs = 0): Deadline {
  const controller = new AbortController();
  let over = false;
  let grace: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    over = !controller.signal.aborted;
    controller.abort();
  }, timeoutMs);
  const end = (): void => controller.abort(outer?.reason);
  const stop = (): void => {
    if (graceMs === 0) end();
    else grace = setTimeout(end, graceMs);
  };
  if (outer?.aborted) end();
  outer?.addEventListener("abort", stop, { once: true });
  return {
    signal: controller.signal,
    isOver: () => over,
    close: () => {
      clearTimeout(timer);
      clearTimeout(grace);
      outer?.removeEventListener("abort", stop);
    },
  };
}
