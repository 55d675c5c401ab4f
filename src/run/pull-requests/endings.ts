import { mergeItemId } from "../../core/board/item-ids.js";
import type { PrEffect } from "../../core/pull-request/effects.js";
import type { PrEvent } from "../../core/pull-request/events.js";
import type { Settled } from "../../durable/types.js";
import { ExternalError } from "../../lib/errors.js";
import { reviewItem } from "../perform/item.js";
import type { PrContext } from "./context.js";
import { fieldsFor } from "./cycle.js";

type Of<K extends PrEffect["kind"]> = Extract<PrEffect, { readonly kind: K }>;

/** Marked once, however often it is asked for; the tracker is told in its own way. */
export async function performEscalate(context: PrContext, effect: Of<"escalate">): Promise<Settled<PrEvent>> {
  const { board, projectId, pr, tracker } = context;
  const { reason, maxCycles, key } = effect;
  const event = { type: "human_escalation", prNumber: pr.number, maxCycles, reason } as const;
  await board.escalate(projectId, pr.issueId, { reason, event });
  if (tracker.kind !== "local") {
    await hold(context);
    await tracker.escalate(pr.issueId, holderOf(context), reason);
  }
  return { event: { type: "escalation-told", key } };
}

export async function performMerge(
  context: PrContext,
  effect: Of<"merge">,
  signal: AbortSignal,
): Promise<Settled<PrEvent>> {
  const { forge, pr } = context;
  const { method, head, key } = effect;
  const outcome = await forge.merge(pr.number, { method, head }, signal);
  if (outcome.type === "merged" || outcome.type === "already-merged") await noteMerge(context, outcome.commit);
  return { event: { type: "merge-ended", key, outcome } };
}

/** The board shows who merged. */
async function noteMerge({ board, projectId, pr }: PrContext, commit: string | null): Promise<void> {
  const issue = await board.get(projectId, pr.issueId);
  const { payload } = issue ?? {};
  if (payload?.source !== "implement" || payload.pr_number === undefined) return;
  const { pr_number, pr_url = "", repo = "", branch = "", base_branch = "", worktree_path = null } = payload;
  const fields = { pr_number, pr_url, repo, branch, base_branch, worktree_path, project_id: projectId };
  const id = mergeItemId({ projectId, prNumber: pr.number });
  await board.addOnce({
    ...{
      projectId,
      id,
      title: `Merge PR #${pr.number}: ${pr.title}`,
      body: pr.url,
      type: "task",
      parent: null,
      deps: [],
    },
    ...{ priority: 1, source: "pr_merge", createdAt: null, status: "waiting_for_response" },
    payload: { source: "pr_merge", ...fields, implementation_work_item_id: pr.issueId, human_review_required: false },
  });
  await board.settle(projectId, id, null, { status: "completed", reason: "merged by Ratchet", commit });
}

/** Merged: the issue is done. Closed: it failed, and its work is kept. Every item of the pull request ends with it. */
export async function performFinish(context: PrContext, effect: Of<"finish">): Promise<Settled<PrEvent>> {
  const { board, projectId, pr, tracker } = context;
  const { how, head, commit, key } = effect;
  const note = `pull request #${pr.number} was ${how}`;
  for (const item of await board.ofPullRequest(projectId, pr.number)) {
    if (item.id === pr.issueId || item.status === "completed") continue;
    await board.settle(projectId, item.id, null, { status: "completed", reason: note, commit: null });
  }
  if (tracker.kind !== "local") {
    await hold(context);
    if (how === "merged") await tracker.complete(pr.issueId, holderOf(context), { commit, note });
    else await tracker.fail(pr.issueId, holderOf(context), note);
  }
  const status = how === "merged" ? "completed" : "failed";
  const issue = await board.get(projectId, pr.issueId);
  if (issue && issue.status !== "completed" && issue.status !== status) {
    await board.settle(projectId, pr.issueId, null, { status, reason: note, commit });
  }
  // Nobody has to decide about it any more.
  if (issue?.payload?.human_review_required) {
    await board.setPayload(projectId, pr.issueId, { human_review_required: false });
  }
  await context.dropWorktree(pr.issueId, how === "merged" ? head : null);
  return { event: { type: "finished", key } };
}

/** The issue waits in it again, and there is an item for its next review; one that a run works on goes its own way. */
export async function performReopen(context: PrContext, effect: Of<"reopen">): Promise<Settled<PrEvent>> {
  const { board, projectId, pr, tracker } = context;
  const { key, cycle, times } = effect;
  const issue = await board.get(projectId, pr.issueId);
  if (tracker.kind !== "local") await hold(context);
  if (issue?.status === "failed" || issue?.status === "available") {
    const reason = `waits for pull request #${pr.number}`;
    await board.settle(projectId, pr.issueId, null, { status: "waiting_for_response", reason, commit: null });
  }
  const item = reviewItem({ run: context, title: pr.title }, await fieldsFor(context), { cycle, reopened: times });
  const made = await board.addOnce(item);
  if (!made.ok) throw new ExternalError("board", made.reason);
  const text = `pull request #${pr.number} was opened again`;
  if (made.isNew) await board.appendEvent(projectId, pr.issueId, { type: "log", level: "info", text });
  return { event: { type: "noted", key } };
}

/** Asked again it is there already; the one that came to no verdict ends by it. */
export async function performReview(context: PrContext, effect: Of<"review">): Promise<Settled<PrEvent>> {
  const { board, projectId, pr } = context;
  const { key, cycle, times, predecessor } = effect;
  const successor = reviewItem({ run: context, title: pr.title }, await fieldsFor(context), { cycle, again: times });
  const last = { holder: null, note: "asked again", commit: null };
  const made =
    predecessor === null
      ? await board.addOnce(successor)
      : await board.succeed(projectId, predecessor, { ...last, successor });
  if (!made.ok) throw new ExternalError("board", made.reason);
  return { event: { type: "noted", key } };
}

/** An escalation lets the issue go; whoever tells of it next takes it again. Asking twice is fine. */
async function hold(context: PrContext): Promise<void> {
  await context.tracker.claim(context.pr.issueId, holderOf(context), { any: true });
}

function holderOf({ machine }: PrContext): string {
  return machine;
}
