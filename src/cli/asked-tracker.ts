import type { Tracker } from "../core/ports/tracker.js";
import type { Settings } from "../core/settings.js";
import type { Context } from "./context.js";

interface Asking {
  /** What ends the wait, besides the end of the command. */
  readonly signal?: AbortSignal;
  /** As App.tracker has it. */
  readonly folder?: string;
}

/** The tracker for a command, which says once that it waits for an answer. */
export async function openTracker(
  { app, out }: Pick<Context, "app" | "out">,
  settings: Settings,
  { signal = new AbortController().signal, folder }: Asking = {},
): Promise<Tracker> {
  const tracker = await app.tracker(settings, folder);
  let isTold = false;
  const onSlow = (call: string): void => {
    if (!isTold) out.note(`waiting for the tracker to answer ${call}`);
    isTold = true;
  };
  return tracker.askedBy?.({ signal, onSlow }) ?? tracker;
}
