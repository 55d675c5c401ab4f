import { isCaredFor } from "../../core/cared-for.js";
import type { Issue } from "../../core/ports/tracker.js";
import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import type { RunContext } from "../context.js";
import { unmergedDeps } from "../unmerged.js";
import { isHeldBack } from "./live-again.js";

type NamedEffect = Extract<RunEffect, { readonly kind: "named" }>;
type Left = Extract<RunEvent, { readonly type: "named-seen" }>["left"][number];

/** What is done, or another run's, is no news; of the others, the reason. */
export async function performNamed(run: RunContext, { key, ids }: NamedEffect): Promise<Settled<RunEvent>> {
  const left: Left[] = [];
  for (const issueId of ids) {
    const issue = await run.tracker.get(issueId);
    if (issue !== null && ((await isCaredFor(run, issue)) || (await run.history.endedElsewhere(issueId)))) continue;
    left.push({ issueId, reason: issue === null ? "it is gone" : await reasonAgainst(run, issue) });
  }
  return { event: { type: "named-seen", key, left } };
}

async function reasonAgainst(run: RunContext, issue: Issue): Promise<string | null> {
  const { id, type, status, deps } = issue;
  const { resume, only } = run.options;
  if (type === "epic") return "it is an epic";
  const obstacle = (await run.tracker.standing?.(id))?.obstacle ?? null;
  if (obstacle !== null) return obstacle.reason;
  if (status === "claimed") return `claimed by ${(await run.board.get(run.projectId, id))?.claimedBy ?? "somebody"}`;
  if (status !== "available" && !(resume && status === "failed")) return status;
  const missing = await openOf(run, deps);
  if (missing.length > 0) return `blocked by ${missing.join(", ")}`;
  const [first] = await unmergedDeps(run, run.tracker, deps);
  if (first !== undefined) return `${first.id} is on ${first.branch} and not merged yet`;
  if (only === "check" && (await run.history.earlier(id)).resume === null) return "nobody has worked on it yet";
  return (await isHeldBack(run, issue)) ? "it was stopped" : null;
}

async function openOf({ tracker }: RunContext, deps: readonly string[]): Promise<readonly string[]> {
  const open: string[] = [];
  for (const id of deps) {
    const dep = await tracker.get(id);
    if (dep !== null && dep.status !== "completed") open.push(id);
  }
  return open;
}
