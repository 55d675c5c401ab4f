import type { ItemStatus } from "../../core/ports/tracker.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { foreignHint, foreignName } from "../../views/foreign-tracker.js";
import { renderWorkItem, renderWorkList, toWorkItemJson } from "../../views/work.js";
import { type Context, chooseProject } from "../context.js";
import { foreignTracker, refuseForeign } from "../foreign-tracker.js";
import { parseCount } from "../parse-count.js";
import { roomOf } from "../room.js";
import { typed } from "../typed.js";
import type { ItemOptions } from "./work-change.js";

export interface ListOptions {
  readonly status?: readonly string[];
  readonly all?: boolean;
  readonly limit: string;
  readonly project?: string;
  readonly json?: boolean;
}

const statuses: readonly ItemStatus[] = [
  "available",
  "claimed",
  "completed",
  "blocked",
  "waiting_for_response",
  "failed",
  "quarantined",
];

export async function listWork(context: Context, options: ListOptions): Promise<number> {
  const wanted = (options.status ?? []).flatMap((names) => names.split(",")).map(parseStatus);
  const open = statuses.filter((status) => status !== "completed");
  const limit = parseCount("--limit", options.limit);
  const project = await chooseProject(context, options.project);
  const { workItems } = await context.app.store();
  const foreign = await foreignTracker(context, options.project);
  if (foreign !== null) {
    const place = `the issues of this project are in ${foreignName(foreign)} (${foreignHint(foreign, "list")})`;
    context.out.note(`${place}; the board has what belongs to their pull requests`);
  }
  const chosen = wanted.length > 0 ? wanted : options.all ? null : open;
  const items = await workItems.list({ projectId: project.id, statuses: chosen, limit });
  if (options.json) context.out.json(items.map(toWorkItemJson));
  else for (const line of renderWorkList(items, await roomOf(context.out, items))) context.out.line(line);
  return 0;
}

function parseStatus(name: string): ItemStatus {
  const found = statuses.find((status) => status === name.trim());
  if (found === undefined) throw new UserError(`--status ${typed(name)} is not one of ${statuses.join(", ")}`);
  return found;
}

export async function showWork(context: Context, id: string, options: ItemOptions): Promise<number> {
  const project = await chooseProject(context, options.project);
  const { workItems } = await context.app.store();
  const item = await workItems.get(project.id, id);
  if (item === null) {
    await refuseForeign(context, "change", { id, project: options.project });
    throw new Refusal(`no item ${typed(id)} in ${project.id}`, { code: "not-found", hint: "ratchet work list --all" });
  }
  const events = await workItems.events(project.id, id);
  if (options.json) context.out.json({ ...toWorkItemJson(item), events });
  else for (const line of renderWorkItem(item, events)) context.out.line(line);
  return 0;
}
