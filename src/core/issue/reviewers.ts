import { add, openFindings } from "../ledger/ledger.js";
import type { FindingThreshold } from "../settings.js";
import { blockingReview } from "./blocking.js";
import { usedUp } from "./budget.js";
import type { ReviewOutcome, TurnEnded, TurnOutcome } from "./events.js";
import { closeOthers, visitOf } from "./ledger-parts.js";
import { authorOf } from "./own-findings.js";
import { lastReviewRound, triggerName, triggerOf } from "./policy.js";
import { setsUpFirst } from "./set-up.js";
import { reviewStage } from "./slots.js";
import type { Slot } from "./state.js";
import type { Step } from "./step.js";
import { limitEnd, reportTurn, spend } from "./turns.js";

/**
 * Reviewers in their slots, for the issue's review and for session_end's own. Each slot comes to a verdict or runs out
 * of tries; only a verdict is ever a pass. What the verdicts mean is decided by the phase once no slot runs.
 */
interface Panel {
  readonly prefix: string;
  readonly round: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly threshold: FindingThreshold;
  readonly slots: readonly Slot[];
  readonly stage: (slot: string) => string;
  /** Older findings of the stage are closed by each verdict. */
  readonly closes: boolean;
  readonly prompt: "review" | "epic_verification";
}

const protocolTries = 3;
const lostTries = 3;

export function newSlot(name: string, open: boolean): Slot {
  return { name, status: "idle", open, starts: 0, bad: 0, transient: 0, lost: 0 };
}

export function startSlots(step: Step, names: readonly string[]): void {
  for (const name of names) startSlot(step, name);
  startQueued(step);
}

export function isReviewerRunning(step: Step): boolean {
  return panelOf(step).slots.some(({ status }) => status === "running" || status === "queued");
}

/** The slot's back-off is over. */
export function resendReviewer(step: Step, name: string): void {
  const slot = panelOf(step).slots.find((one) => one.name === name);
  if (slot) again(step, slot);
  startQueued(step);
}

export function settleReviewer(step: Step, name: string, event: TurnEnded): void {
  spend(step, event);
  reportTurn(step, event, { role: "reviewer", reviewer: name });
  const slot = panelOf(step).slots.find((one) => one.name === name);
  // Keys count on: only one that starts no further turn is set back.
  const uncalled = event.unbegun && (isWindingDown(step) || usedUp(step) !== null);
  if (slot) settleSlot(step, uncalled ? { ...slot, starts: slot.starts - 1 } : slot, event);
  startQueued(step);
}

/** Whose end says nothing about what it read: it is asked again in any case. */
const cutShort: readonly TurnOutcome["type"][] = ["lost", "stopped", "transient", "limited"];

function settleSlot(step: Step, slot: Slot, event: TurnEnded) {
  const { outcome, disturbed } = event;
  if (disturbed && !cutShort.includes(outcome.type)) return repeatAlone(step, slot, disturbed);
  if (outcome.type === "ended") return judge(step, slot, event.review);
  if (isWindingDown(step)) return giveUp(step, slot, "stopped");
  // What used the budget up may not have been recorded yet: it is asked again once nobody else runs.
  if (event.unbegun) return setSlot(step, { ...slot, status: "queued" });
  switch (outcome.type) {
    case "lost":
    case "stopped":
      return slot.lost < lostTries
        ? again(step, { ...slot, lost: slot.lost + 1 })
        : protocolFailure(step, slot, "the reviewer's process was lost");
    case "transient": {
      const seconds = step.policy.settings.agent.backoff_seconds[slot.transient];
      return seconds === undefined
        ? stayAway(step, slot, outcome.reason)
        : waitFor(step, slot, step.at + seconds * 1000, outcome.reason);
    }
    case "limited": {
      const until = limitEnd(step, slot.transient, outcome.until);
      return until === null ? stayAway(step, slot, outcome.reason) : waitFor(step, slot, until, outcome.reason);
    }
    case "timed-out":
      return protocolFailure(step, slot, "the reviewer ran out of time");
    case "idle":
      return protocolFailure(step, slot, "the reviewer stayed silent");
    default:
      return protocolFailure(step, slot, "reason" in outcome ? outcome.reason : outcome.type);
  }
}

/** Its word does not count, and that is not held against it: the files were changed while others read them too. */
function repeatAlone(step: Step, slot: Slot, paths: readonly string[]) {
  const what = `the files were changed while it read them (${paths.slice(0, 3).join(", ")})`;
  if (isWindingDown(step)) return giveUp(step, slot, what);
  step.log("warn", `${slot.name}: ${what}; they were put back, and it looks again with no other reviewer beside it`);
  setSlot(step, { ...slot, status: "queued" });
}

/** One at a time, and only when nobody else reads: whatever is changed now is the work of that one. */
export function startQueued(step: Step): void {
  for (;;) {
    const { slots } = panelOf(step);
    const next = slots.find(({ status }) => status === "queued");
    if (!next || slots.some(({ status }) => status === "running")) return;
    if (isWindingDown(step)) giveUp(step, next, "stopped");
    else if (setsUpFirst(step)) return;
    else again(step, next);
  }
}

function isWindingDown({ state }: Step): boolean {
  return state.halt !== null || (state.sessionEnd?.timedOut ?? false);
}

function judge(step: Step, slot: Slot, review: ReviewOutcome | null) {
  if (review === null) return protocolFailure(step, slot, "no verdict");
  if (review.type === "protocol") return protocolFailure(step, slot, review.reason);
  if (review.verdict === "fail" && review.findings.length === 0) {
    return protocolFailure(step, slot, "a fail without a finding");
  }
  const panel = panelOf(step);
  const stage = panel.stage(slot.name);
  const { round, threshold } = panel;
  const author = authorOf(step.policy.settings, { stage, slot: slot.name });
  const who = { stage, source: "review", reviewer: slot.name, author } as const;
  const visit = { ...who, visit: round, remarks: review.findings, threshold };
  const raised = step.apply(add(step.ledger, visitOf(step, visit)));
  const blocking = openFindings(step.ledger, { ids: raised, stages: [stage], blocking: threshold });
  // An epic's criteria are met or not: there the reviewer's own word counts besides.
  const passed = blocking.length === 0 && (panel.prompt === "review" || review.verdict === "pass");
  if (panel.closes) closeOthers(step, stage, { keep: raised, passed, visit: panel.round });
  setSlot(step, { ...slot, status: passed ? "pass" : "fail", ...(panel.closes ? {} : { found: raised }) });
  if (panel.closes) step.set({ review: { ...step.state.review, judged: true } });
  reportEnd(step, slot, { verdict: passed ? "pass" : "fail", findings: raised.length });
}

function protocolFailure(step: Step, slot: Slot, reason: string): void {
  const panel = panelOf(step);
  const title = `No verdict from ${slot.name}`;
  const remark = { file: "", line_start: 0, line_end: 0, priority: null, title, body: { text: reason } };
  const stage = panel.stage(slot.name);
  const visit = { stage, source: "protocol", reviewer: slot.name, visit: panel.round, remarks: [remark] } as const;
  step.apply(add(step.ledger, visitOf(step, visit)));
  reportEnd(step, slot, { verdict: "protocol", findings: 0, reason });
  const bad = slot.bad + 1;
  if (bad >= protocolTries || isWindingDown(step)) setSlot(step, { ...slot, bad, status: "out" });
  else again(step, { ...slot, bad });
}

/** It was waited for long enough: no further try, and that there is no verdict is kept as of any other. */
function stayAway(step: Step, slot: Slot, reason: string): void {
  protocolFailure(step, { ...slot, bad: protocolTries }, reason);
}

function giveUp(step: Step, slot: Slot, reason: string): void {
  reportEnd(step, slot, { verdict: "protocol", findings: 0, reason });
  setSlot(step, { ...slot, status: "out" });
}

function waitFor(step: Step, slot: Slot, until: number, reason: string): void {
  setSlot(step, { ...slot, transient: slot.transient + 1 });
  step.oweTimer(`reviewer-${slot.name}`, until, slot.name);
  step.report({ type: "waiting", for: `${slot.name}: ${reason}`, until });
}

/** Past a budget no turn starts: the slot is out, and the phase escalates once no other reviewer runs. */
function again(step: Step, slot: Slot) {
  if (usedUp(step) !== null) return giveUp(step, slot, "the budget is used up");
  setSlot(step, slot);
  startSlot(step, slot.name);
}

function reportEnd(
  step: Step,
  slot: Slot,
  end: { readonly verdict: "pass" | "fail" | "protocol"; readonly findings: number; readonly reason?: string },
): void {
  const { attempt, stage, closes } = panelOf(step);
  const blocking = closes ? { blocking: blockingReview(step) } : {};
  step.report({ type: "review-ended", attempt, reviewer: slot.name, stage: stage(slot.name), ...end, ...blocking });
}

function startSlot(step: Step, name: string) {
  const panel = panelOf(step);
  const slot = panel.slots.find((one) => one.name === name);
  if (!slot) return;
  if (step.state.unready) return setSlot(step, { ...slot, status: "queued" });
  const starts = slot.starts + 1;
  setSlot(step, { ...slot, starts, status: "running" });
  const { state } = step;
  const folder = step.newFolder(`review-${name}`);
  const head = state.work?.head ?? state.baseSha;
  const { attempt, maxAttempts } = panel;
  const stage = panel.stage(name);
  step.owe(
    {
      kind: "turn",
      key: `${panel.prefix}:${name}:round-${panel.round}:try-${starts}`,
      folder,
      role: "reviewer",
      prompt: panel.prompt,
      stage,
      slot: name,
      attempt,
      maxAttempts,
      session: null,
      base: state.reviewBase,
      head,
      only: null,
      threshold: panel.threshold,
      continues: null,
      until: null,
    },
    name,
  );
  step.report({ type: "review-started", attempt, reviewer: name, commit: head, stage });
  const prompt = {
    kind: panel.prompt,
    attempt,
    max_attempts: maxAttempts,
    path: step.policy.promptPath(folder),
    role: "reviewer",
  } as const;
  step.report({ type: "prompt-sent", ...prompt, reviewer: name });
}

function setSlot(step: Step, slot: Slot): void {
  const { phase, sessionEnd, review } = step.state;
  const put = (slots: readonly Slot[]) => slots.map((one) => (one.name === slot.name ? slot : one));
  if (phase !== "session-ending") step.set({ review: { ...review, slots: put(review.slots) } });
  else if (sessionEnd) step.set({ sessionEnd: { ...sessionEnd, slots: put(sessionEnd.slots) } });
}

function panelOf(step: Step): Panel {
  const { state, policy } = step;
  const { settings } = policy;
  if (state.phase === "session-ending") {
    const fixers = state.sessionEnd?.reviewFixers ?? 0;
    const review = triggerOf(policy)?.code_review;
    return {
      prefix: `${triggerName(policy)}-review`,
      round: state.sessionEndRuns + fixers,
      attempt: 1 + fixers,
      maxAttempts: policy.trigger && review?.failure_mode === "remediate" ? 1 + review.max_retries : 1,
      threshold: review?.finding_threshold ?? "none",
      slots: state.sessionEnd?.slots ?? [],
      stage: () => triggerName(policy),
      closes: false,
      prompt: policy.trigger === "epic_verification" ? "epic_verification" : "review",
    };
  }
  return {
    prefix: "review",
    round: state.review.round,
    attempt: state.review.round,
    maxAttempts: lastReviewRound(policy, state.review),
    threshold: settings.per_issue_review.finding_threshold,
    slots: state.review.slots,
    stage: (slot) => reviewStage(settings, slot),
    closes: true,
    prompt: "review",
  };
}
