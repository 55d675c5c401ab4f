import type { Tracker } from "../../core/ports/tracker.js";
import type { Settings } from "../../core/settings.js";
import { ExternalError } from "../../lib/errors.js";
import { gcLines } from "../../views/gc.js";
import { openTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";

/** `ratchet gc`: the plan is made first and shown as it is carried out. */
export async function clearAway(
  context: Context,
  { dryRun = false, json = false }: { readonly dryRun?: boolean; readonly json?: boolean },
): Promise<number> {
  const { app, out } = context;
  const { settings } = await app.settings({});
  const { plan, perform } = await app.gc(settings, closedElsewhere(context, settings));
  if (!dryRun) await perform();
  if (json) out.json({ dry_run: dryRun, actions: plan.actions, kept: plan.kept });
  else for (const line of gcLines(plan, dryRun)) out.line(line);
  return 0;
}

/** A tracker that does not answer is asked once: what it has counts as open then, and that is said. */
function closedElsewhere(context: Context, settings: Settings): (issueId: string) => Promise<boolean> {
  let tracker: Promise<Tracker> | null = null;
  let isAway = settings.tracker.type === "local";
  return async (issueId) => {
    if (isAway) return false;
    try {
      tracker ??= openTracker(context, settings);
      return (await (await tracker).get(issueId))?.status === "completed";
    } catch (error) {
      if (!(error instanceof ExternalError)) throw error;
      isAway = true;
      context.out.note(`what the tracker has counts as open: ${error.message}`);
      return false;
    }
  };
}
