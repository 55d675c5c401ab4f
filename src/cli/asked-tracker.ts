import type { Tracker } from "../core/ports/tracker.js";
import type { Settings } from "../core/settings.js";
import type { Context } from "./context.js";

/** The tracker for a command, which says once that it waits for an answer. `signal`: what ends the wait, besides the end of the command. */
export async function openTracker(
  { app, out }: Pick<Context, "app" | "out">,
  settings: Settings,
  signal: AbortSignal = new AbortController().signal,
): Promise<Tracker> {
  const tracker = await app.tracker(settings);
  let isTold = false;
  const onSlow = (call: string): void => {
    if (!isTold) out.note(`waiting for the tracker to answer ${call}`);
    isTold = true;
  };
  return tracker.askedBy?.({ signal, onSlow }) ?? tracker;
}
