import type { Settings } from "../../core/settings.js";
import { waitingLine } from "../../views/waiting.js";
import type { Context } from "../context.js";
import type { Wanted } from "./request.js";

const everything = 100_000;

/** A run that finds nothing ready says what it leaves: it would look like there is nothing to do. */
export async function tellWaiting({ app, out }: Context, wanted: Wanted, settings: Settings): Promise<void> {
  const tracker = await app.tracker(settings);
  const { scope, resume } = wanted;
  // Another tracker tells only what is ready.
  if (tracker.kind !== "local" || scope.type === "ids") return;
  if ((await tracker.ready({ scope, resume, limit: 1 })).length > 0) return;
  const { id: projectId } = await app.project();
  const { workItems } = await app.store();
  const items = await workItems.list({ projectId, statuses: null, limit: everything });
  const line = waitingLine(items.filter(({ type }) => type === "task").map(({ status }) => status));
  if (line !== null) out.note(line);
}
