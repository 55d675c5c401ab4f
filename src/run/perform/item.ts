import { reviewItemId } from "../../core/board/item-ids.js";
import type { PullRequestFields } from "../../core/board/payload.js";
import type { TrackerEffect } from "../../core/issue/effects.js";
import type { PullRequestItem } from "../../core/issue/policy.js";
import type { NamedWorkItem, WorkItems } from "../../core/ports/work-items.js";
import { Bug, ExternalError } from "../../lib/errors.js";
import { forgeOf, type LifeContext, pullRequestMachineId, type RunContext, worktreePath } from "../context.js";
import { isTrackerAway } from "../tracker-outbox.js";

/** What the board is told of a pull request's item, and of an issue whose work has gone into one. */
export type Told =
  | { readonly ok: true; readonly id?: string }
  | { readonly ok: false; readonly reason: string; readonly lost: boolean };

export async function tellOfItem(life: LifeContext, effect: TrackerEffect, signal: AbortSignal): Promise<Told> {
  const { board, projectId, runId } = life.run;
  const { item } = life;
  if (!item) throw new Bug(`${life.issueId} is no item of a pull request`);
  const settle = async (status: "failed" | "waiting_for_response", reason: string): Promise<Told> => {
    await settleItem(life, { status, reason, commit: null });
    return { ok: true };
  };
  switch (effect.op) {
    case "claim":
      return await claim(life, item, signal);
    case "complete":
      await complete(life, effect, item);
      break;
    case "fail":
      return await settle("failed", effect.reason);
    case "escalate":
      await settle("waiting_for_response", effect.reason);
      break;
    case "release":
      await board.release(projectId, life.issueId, runId);
      break;
    case "follow-up":
    case "give-back":
    case "hand-over":
      throw new Bug(`${effect.op} of an item of a pull request`);
  }
  await life.run.inbox.send(pullRequestMachineId(projectId, item.prNumber), { name: "look" });
  return { ok: true };
}

/** One that has ended already has ended: by an earlier try of ours, by a person, or with its pull request. */
async function settleItem({ run, issueId }: LifeContext, to: Parameters<WorkItems["settle"]>[3]): Promise<void> {
  const { board, projectId, runId } = run;
  if (await board.settle(projectId, issueId, runId, to)) return;
  const status = (await board.get(projectId, issueId))?.status ?? "gone";
  if (status !== to.status && status !== "completed")
    throw new ExternalError("board", `${issueId} is no longer held by ${runId}: it is ${status}`);
}

/** Nobody works on a pull request that is merged or closed, nor for an issue that is done. */
async function claim(life: LifeContext, item: PullRequestItem, signal: AbortSignal): Promise<Told> {
  const { run, issueId } = life;
  const { board, projectId, runId, clock } = run;
  const issue = await board.get(projectId, item.issueId);
  if (run.tracker.kind === "local" && issue?.status === "completed") {
    const reason = `${item.issueId} is completed`;
    await board.settle(projectId, issueId, null, { status: "completed", reason, commit: null });
    return { ok: false, reason, lost: true };
  }
  const { state } = await forgeOf(run).pullRequest(item.prNumber, signal);
  if (state !== "open") {
    await run.inbox.send(pullRequestMachineId(projectId, item.prNumber), { name: "look" });
    return { ok: false, reason: `pull request #${item.prNumber} is ${state}`, lost: true };
  }
  const won = await board.claim(projectId, issueId, { holder: runId, leaseUntil: null, now: clock.now() });
  return won ? { ok: true } : { ok: false, reason: "somebody else has it", lost: true };
}

/** A rework is followed by the review of its cycle, in one transaction; a review by what the pull request decides. */
async function complete(
  life: LifeContext,
  effect: Extract<TrackerEffect, { readonly op: "complete" }>,
  { source, cycle }: PullRequestItem,
): Promise<void> {
  const { board, projectId, runId } = life.run;
  const { commit, note } = effect;
  if (source === "code_review") {
    return await settleItem(life, { status: "completed", reason: note, commit });
  }
  const done = await board.get(projectId, life.issueId);
  const payload = done?.payload;
  if (!done || !payload || (payload.source !== "rework" && payload.source !== "merge_fix"))
    throw new ExternalError("board", `${life.issueId} is no longer a rework on the board`);
  // Its review came with that, or nobody wants one: the pull request has ended, or a person has said that it is done.
  if (done.status === "completed") return;
  const issue = await board.get(projectId, payload.implementation_work_item_id);
  const titled = { run: life.run, title: issue?.title ?? life.title };
  const successor = reviewItem(titled, { ...fieldsOf(payload), worktree_path: worktreePath(life) }, { cycle });
  const made = await board.succeed(projectId, life.issueId, { holder: runId, note, commit, successor });
  if (!made.ok) throw new ExternalError("board", made.reason);
}

/** The issue waits in its pull request: known on the board, with the item of its first review. */
export async function handOver(
  life: LifeContext,
  { number, url }: Extract<TrackerEffect, { readonly op: "hand-over" }>,
): Promise<Told> {
  const { run, issueId, names } = life;
  const { board, projectId } = run;
  const fields: PullRequestFields = {
    pr_number: number,
    pr_url: url,
    repo: forgeOf(run).repo,
    branch: names.branch,
    base_branch: run.target,
    project_id: projectId,
    implementation_work_item_id: issueId,
    worktree_path: worktreePath(life),
    human_review_required: false,
  };
  await ensureItem(life);
  if (!(await board.setPayload(projectId, issueId, fields)))
    throw new ExternalError("board", `${issueId} cannot be told of its pull request`);
  const made = await board.addOnce(reviewItem(life, fields, { cycle: 0 }));
  if (!made.ok) throw new ExternalError("board", made.reason);
  const machine = pullRequestMachineId(projectId, number);
  const unpassed = await passClaim(life, machine);
  const to = { status: "waiting_for_response", reason: `waits for pull request #${number}`, commit: null } as const;
  // Elsewhere the claim is the tracker's, and the row only tells of the pull request.
  if (run.tracker.kind === "local") await settleItem(life, to);
  else await board.settle(projectId, issueId, null, to);
  await run.inbox.send(machine, { name: "look" });
  if (unpassed !== null) throw unpassed;
  return { ok: true };
}

/** A tracker that is away is told later; the pull request is there all the same. */
async function passClaim({ run, issueId }: LifeContext, to: string): Promise<Error | null> {
  try {
    await run.tracker.pass?.(issueId, { from: run.runId, to });
    return null;
  } catch (error) {
    if (error instanceof Error && isTrackerAway(error)) return error;
    throw error;
  }
}

/** Issues of other trackers have a row on the board once they have a pull request. */
async function ensureItem({ run, issueId, title }: LifeContext): Promise<void> {
  if (run.tracker.kind === "local") return;
  const row = { projectId: run.projectId, id: issueId, title, body: "", type: "task" } as const;
  const priority = await priorityOf(run, issueId);
  const rest = { parent: null, deps: [], priority, source: "implement", createdAt: null } as const;
  const made = await run.board.addOnce({ ...row, ...rest, status: "waiting_for_response" });
  if (!made.ok) throw new ExternalError("board", made.reason);
}

/** As the tracker has it. One that is away does not keep the pull request from being known. */
async function priorityOf({ tracker }: RunContext, issueId: string): Promise<number> {
  try {
    return (await tracker.get(issueId))?.priority ?? usualPriority;
  } catch (error) {
    if (error instanceof Error && isTrackerAway(error)) return usualPriority;
    throw error;
  }
}
const usualPriority = 2;

/** Where our reviewer reviews, a run takes it; else it waits for people. */
export function reviewItem(
  { run, title }: { readonly run: Pick<RunContext, "projectId" | "settings">; readonly title: string },
  fields: PullRequestFields,
  { cycle, ...how }: { readonly cycle: number; readonly reopened?: number; readonly again?: number },
): NamedWorkItem {
  const { projectId, settings } = run;
  return {
    projectId,
    id: reviewItemId({ projectId, prNumber: fields.pr_number }, cycle, how),
    title: `Review PR #${fields.pr_number}: ${title}`,
    body: "",
    type: "task",
    parent: null,
    deps: [],
    priority: 1,
    source: "code_review",
    createdAt: null,
    status: settings.pull_requests.review.enabled ? "available" : "waiting_for_response",
    payload: { source: "code_review", ...fields, rework_cycle: cycle },
  };
}

export function fieldsOf(payload: PullRequestFields): PullRequestFields {
  const { pr_number, pr_url, repo, branch, base_branch, project_id } = payload;
  const { implementation_work_item_id, worktree_path, human_review_required, max_rework_cycles } = payload;
  return {
    ...{ pr_number, pr_url, repo, branch, base_branch, project_id },
    ...{ implementation_work_item_id, worktree_path, human_review_required },
    ...(max_rework_cycles === undefined ? {} : { max_rework_cycles }),
  };
}
