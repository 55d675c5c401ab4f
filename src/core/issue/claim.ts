import { openFindings } from "../ledger/ledger.js";
import type { Deliver } from "../run/effects.js";
import { oweGivingBack, sayParked } from "./close.js";
import type { IssueEvent, Snapshot } from "./events.js";
import { commandFacts, commandTitle, isByHand, isPass } from "./ledger-parts.js";
import { gateAttempts, reviewAttempts } from "./policy.js";
import { beginItem, leaveToAgent } from "./pull-request.js";
import type { Step } from "./step.js";
import { carriedFindings, oweTurn } from "./turns.js";
import { isLeftUnbegun, neverStarted } from "./unbegun.js";
import { dropUnchecked, withoutUnchecked } from "./unchecked.js";

type Of<T extends IssueEvent["type"]> = Extract<IssueEvent, { type: T }>;

/** From the claim to the first prompt. A life that is not claimed leaves no trace in any record. */
export function begin(step: Step) {
  step.set({ startedAt: step.at });
  if ((step.state.draining || step.state.halt) && !step.policy.trigger) return step.end(neverStarted);
  step.oweSignal();
  if (step.policy.trigger && step.policy.trigger !== "epic_verification") return openWorktree(step);
  const any = step.policy.options.only === "land" ? { any: true } : {};
  step.owe({ kind: "tracker", key: "tracker:claim", op: "claim", ...any });
}

export function afterClaim(step: Step, event: Of<"tracker-done">) {
  const { state, policy } = step;
  if (!event.ok) {
    step.set({ trackerOwed: !event.lost });
    // Somebody else's is the usual course; a tracker that gave no answer has to be told, because no record will.
    if (!event.lost) step.log("error", `${policy.trigger ? "The epic" : "It"} could not be claimed: ${event.reason}`);
    return step.end({ status: "not-claimed", message: event.reason, error: null, commit: null });
  }
  if (event.was !== undefined) step.set({ was: event.was });
  if (state.halt || state.draining) return giveBack(step);
  if (!policy.trigger) startRecord(step);
  openWorktree(step);
}

function startRecord(step: Step): void {
  const { policy, state } = step;
  const { title, life, resume } = state;
  const session = policy.item ? policy.item.session : sessionToRestore(step);
  step.set({ session });
  // What is no longer checked is closed later, when the work begins, and not replayed.
  const kept = withoutUnchecked(step)?.ledger ?? step.ledger;
  const blocking = openFindings(kept, { ids: carriedFindings(step) }).map(({ id }) => id);
  step.report({
    ...{ type: "issue-started", title, life, agent: policy.settings.agent.type },
    ...(session === null ? {} : { session_id: session }),
    ...(resume?.baseSha ? { base_sha: resume.baseSha } : {}),
    ...(blocking.length === 0 ? {} : { blocking }),
  });
}

function sessionToRestore({ policy, state }: Step): string | null {
  return policy.options.fresh ? null : (state.resume?.sessionId ?? null);
}

function openWorktree(step: Step): void {
  step.set({ phase: "preparing" });
  step.owe({ kind: "worktree", key: "worktree:open", op: "open", baseSha: step.state.resume?.baseSha ?? null });
}

function giveBack(step: Step): void {
  step.set({ phase: "closing", ending: neverStarted });
  oweGivingBack(step, "");
}

export function afterWorktree(step: Step, event: Of<"worktree-ready">) {
  const { head, tree, baseSha } = event;
  const work = { head, tree, filesTree: tree, commits: head === baseSha ? 0 : 1, dirtyCount: 0 };
  const { reviewBase = baseSha } = event;
  const unmerged = reviewBase === step.state.unmerged ? null : step.state.unmerged;
  // What an earlier life was to merge and has stays in the work.
  const isMerged = !step.policy.trigger && reviewBase !== baseSha && !unmerged;
  step.set({
    baseSha,
    reviewBase,
    ...(unmerged === null ? { unmerged } : {}),
    ...(isMerged ? { landing: { ...step.state.landing, demanded: true } } : {}),
    branch: event.branch,
    work: { ...work, docsOnly: false, containsBase: true, named: null },
    // What an earlier life committed and nobody has pushed is a change that the pull request has not seen.
    ...(step.policy.item ? { startHead: event.pushed ?? head } : {}),
  });
  step.report({ type: "worktree-ready", path: event.path, branch: event.branch, base_sha: baseSha });
  for (const path of event.aside ?? [])
    step.log("warn", `Files were where its worktree belongs, they are kept in ${path}`);
  if (event.lost !== undefined) step.log("warn", event.lost);
  sayParked(step, event.parked);
  sayWhatIsLeft(step, event);
  if (step.state.halt || isLeftUnbegun(step)) return;
  const setup = step.policy.settings.commands.setup;
  if (!event.fresh || !setup) return firstTurn(step);
  step.owe({
    kind: "command",
    key: "setup",
    folder: step.newFolder("setup"),
    stage: "setup",
    name: "setup",
    command: setup.command,
    timeoutSeconds: setup.timeout,
    exclusive: setup.exclusive,
    place: "issue",
    commit: null,
  });
}

/** A remote that gives no answer says nothing about the work: it is begun when it is back. */
export function afterNoWorktree(step: Step, { reason, unreachable }: Of<"worktree-failed">) {
  if (!unreachable) return step.fail("worktree_failed", `The worktree failed: ${reason}`);
  step.set({ trackerOwed: true });
  step.end({ status: "interrupted", message: reason, error: "forge_unreachable", commit: null });
}

/** An earlier life had a worktree, and neither it nor its branch nor anything parked is there any more. */
function sayWhatIsLeft(step: Step, { from, head }: Of<"worktree-ready">): void {
  const { resume } = step.state;
  const start = `it starts anew at ${head.slice(0, 12)}`;
  if (from === "anew") step.log("info", `What it waited for has landed: ${start}`);
  if (from === "elsewhere")
    step.log("info", `Nothing was done yet, and ${step.policy.target} lacks what it was begun from: ${start}`);
  if (from !== "new" || !resume || resume.baseSha === null) return;
  step.set({ startsAnew: true });
  step.log("warn", `Nothing is left of the work of run ${resume.runId}: ${start}`);
}

export function afterSetup(step: Step, event: Of<"command-ended">) {
  const { setup } = step.policy.settings.commands;
  if (isPass(event) || !setup || setup.allow_fail) return firstTurn(step);
  const command = { name: "setup", command: setup.command };
  step.fail("setup_failed", [commandTitle(event, command), ...commandFacts(event, command).slice(1)].join("; "));
}

function firstTurn(step: Step) {
  const { policy, state } = step;
  const { resume } = state;
  if (isLeftUnbegun(step)) return;
  if (policy.trigger) return step.go("session-ending");
  if (state.deliver) return lookFirst(step);
  if (policy.item) return beginItem(step, policy.item);
  if (policy.options.only) return lookFirst(step);
  dropUnchecked(step);
  if (!resume) return implement(step, null);
  if (policy.options.strict && resume.sessionId === null) {
    const { runId, sessionOf } = resume;
    const other = `The session that run ${runId} left is ${sessionOf}'s, not ${policy.settings.agent.type}'s`;
    return step.fail("session_not_found", sessionOf ? other : `Run ${runId} left no session to restore`);
  }
  const session = sessionToRestore(step);
  step.set({ session });
  const blocking = carriedFindings(step);
  if (blocking.length === 0) return implement(step, session);
  const what = `${blocking.length} issues from prior run ${resume.runId}`;
  // Who has neither the work nor a conversation about it must be told what it was for.
  const fresh = policy.options.fresh || (state.startsAnew === true && session === null);
  if (!fresh) step.log("info", `Using review_followup for resume: ${what}`);
  else step.log("info", `Using implementer in a new session for resume, followed by ${what}`);
  oweTurn(step, {
    role: "implementer",
    stage: "implement",
    prompt: fresh ? "implementer" : "review_followup",
    attempt: 1,
    maxAttempts: reviewAttempts(policy),
    session,
    earlier: session !== null,
    only: true,
    judged: policy.settings.per_issue_review.enabled,
  });
}

/** No agent starts: what is in the worktree goes to the gate as it is. The session is kept for a later resume. */
function lookFirst(step: Step): void {
  step.set({ session: step.state.resume?.sessionId ?? null });
  // A landing by hand that is refused leaves the findings as they were.
  if (!isByHand(step)) dropUnchecked(step);
  step.owe({ kind: "worktree", key: "worktree:look", op: "look" });
}

export function afterLook(step: Step, { snapshot }: Of<"worktree-seen">) {
  step.look(snapshot);
  const { halt, deliver } = step.state;
  if (halt) return;
  if (!deliver) return step.go("gating");
  if (isAsLeft(deliver, snapshot)) {
    step.log("info", `Everything passed before: only pushing ${deliver.head.slice(0, 12)} is left`);
    return step.go("finalizing");
  }
  step.set({ deliver: null });
  const what = "The worktree is no longer as it was when the push failed";
  if (step.policy.options.only === "push") return leaveToAgent(step, what);
  step.log("warn", `${what}: it is worked on again`);
  firstTurn(step);
}

function isAsLeft({ head }: Deliver, work: Snapshot): boolean {
  return work.head === head && work.dirtyCount === 0;
}

function implement(step: Step, session: string | null): void {
  const maxAttempts = gateAttempts(step.policy);
  const plan = { role: "implementer", stage: "implement", prompt: "implementer", attempt: 1 } as const;
  const judged = step.policy.settings.per_issue_review.enabled;
  oweTurn(step, { ...plan, maxAttempts, session, earlier: session !== null, judged });
}
