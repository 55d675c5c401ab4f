import type { Tracker } from "../core/ports/tracker.js";
import type { Settings } from "../core/settings.js";
import { UserError } from "../lib/errors.js";
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

export interface LookedUp {
  /** null: the configuration does not hold. */
  readonly settings: Settings | null;
  /** Where the issues are, when not on the local board. */
  readonly tracker: Tracker | null;
  /** Why the tracker that is configured cannot be asked: then only what is on our own board is known. */
  readonly untracked?: UserError;
}

/** For a command that only looks: a configuration that does not hold is no obstacle. */
export async function lookUpTracker(context: Context): Promise<LookedUp> {
  let settings: Settings | null = null;
  try {
    settings = (await context.app.settings({})).settings;
    return { settings, tracker: settings.tracker.type === "local" ? null : await openTracker(context, settings) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { settings: null, tracker: null, ...(settings === null ? {} : { untracked: error }) };
  }
}
