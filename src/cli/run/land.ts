import type { Issue, Tracker } from "../../core/ports/tracker.js";
import { Refusal } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { endPullRequest, refuseInPullRequest } from "../hands-off.js";
import { prepare } from "./command.js";
import { driveSeries } from "./series.js";

/** `ratchet land`: a run of one life that begins at the gate and ends with the landing. */
export async function landIssue(
  context: Context,
  issueId: string,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { app } = context;
  const settings = await prepare(context, {});
  const tracker = await app.tracker(settings);
  const issue = await tracker.get(issueId);
  if (issue === null) {
    throw new Refusal(`no issue ${issueId}`, { code: "not-found", hint: "ratchet work list --all" });
  }
  await refuseWrong(issue, tracker);
  const item = await (await app.store()).workItems.get((await app.project()).id, issueId);
  if (item) await refuseInPullRequest(context, item, endPullRequest);
  const target = settings.finalize.into ?? (await app.repository()).branch ?? "";
  const work = await (await app.worktrees()).work(issueId, target);
  if (work === "none") throw new Refusal(`${issueId} has no work that could land`, { code: "nothing-to-land" });
  if (work === "landed") throw new Refusal(`${issueId} has landed on ${target} already`, { code: "landed" });
  const scope = { type: "ids", ids: [issueId] } as const;
  const options = { scope, resume: true, strict: false, fresh: false, maxIssues: 1, only: "land" } as const;
  return await driveSeries(context, { settings, options, json, alone: true });
}

/** Somebody works on it, somebody said no, or what it builds on is not there yet. */
async function refuseWrong({ id, type, status, deps }: Issue, tracker: Tracker): Promise<void> {
  const how = { code: "wrong-status", hint: `ratchet explain ${id}` };
  if (type === "epic") throw new Refusal(`${id} is an epic: its children land`, how);
  if (status === "claimed") throw new Refusal(`${id} is being worked on`, how);
  if (status === "blocked") throw new Refusal(`${id} is blocked`, { ...how, hint: `ratchet work unblock ${id}` });
  for (const dep of deps) {
    const on = await tracker.get(dep);
    if (on && on.status !== "completed") throw new Refusal(`${id} builds on ${dep}, which has not landed`, how);
  }
}
