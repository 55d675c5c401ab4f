import { isOverBudget } from "./budget.js";
import type { Snapshot } from "./events.js";
import { gateAttempts, type PullRequestItem } from "./policy.js";
import type { Step } from "./step.js";
import { oweTurn } from "./turns.js";

/**
 * The life of a pull request's item, in the issue's own worktree. A rework is one prompt with all the feedback, the gate,
 * and a push; a review is one round of the reviewers. What follows from them the pull request's machine decides.
 */
export function beginItem(step: Step, item: PullRequestItem) {
  if (item.source === "code_review") return step.go("reviewing");
  if (isOverBudget(step)) return;
  const { session } = item;
  step.set({ session });
  const plan = { role: "implementer", stage: "implement", prompt: "rework", attempt: 1 } as const;
  oweTurn(step, { ...plan, maxAttempts: gateAttempts(step.policy), session, earlier: session !== null });
}

/** Ratchet commits for whoever reworks: feedback may be answered by a change that nobody thought of committing. */
export function afterRework(step: Step, item: PullRequestItem) {
  const { work } = step.state;
  if ((work?.dirtyCount ?? 0) === 0) return judgeRework(step);
  const message = `Address review feedback for PR #${item.prNumber} (cycle ${item.cycle})`;
  step.owe({ kind: "worktree", key: `worktree:commit:${step.state.turns}`, op: "commit-all", message });
}

export function afterReworkCommit(step: Step, snapshot: Snapshot) {
  step.look(snapshot);
  judgeRework(step);
}

function judgeRework(step: Step) {
  const { work, startHead } = step.state;
  step.set({ marker: null });
  if (work?.head !== startHead) return step.go("gating");
  const message = "The agent changed nothing";
  step.end({ status: "escalated", error: "nothing_changed", message, commit: null });
}

export function enterItemEnd(step: Step, item: PullRequestItem) {
  if (item.source === "code_review") return step.go("reviewing");
  owePush(step);
}

export function owePush(step: Step): void {
  const { landing, work, baseSha } = step.state;
  const proposals = landing.proposals + 1;
  const head = work?.head ?? baseSha;
  step.set({ landing: { ...landing, proposals, delivers: head } });
  step.owe({ kind: "push", key: `push:${proposals}`, head });
}

/** What only was to be pushed needs more than that: a run goes on with it. */
export function leaveToAgent(step: Step, why: string): void {
  const message = `${why}: an agent is needed, and a run starts one`;
  step.end({ status: "interrupted", message, error: null, commit: null });
}

/** It has done what it was for, whatever the verdict is. */
export function endItem(step: Step, { message, commit }: { readonly message: string; readonly commit: string | null }) {
  step.end({ status: "success", message, error: null, commit });
}
