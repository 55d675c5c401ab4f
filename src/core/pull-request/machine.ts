import type { Stamped } from "../issue/events.js";
import type { PullRequestSettings } from "../settings.js";
import { answerPushed, followReviews, followRework, noticeDecision, reviveCycle, startCycle } from "./cycle.js";
import type { PostEffect } from "./effects.js";
import type { Looked, PrEvent, PrSignal } from "./events.js";
import { admit, takeIn } from "./intake.js";
import { afterJoin, isJoining } from "./join.js";
import { afterMerge, considerMerge, refusalOf } from "./merge.js";
import { keepWords } from "./parts.js";
import { askForReview } from "./review.js";
import { isFollowed, type PrLife, type PrState } from "./state.js";
import { type PrNext, type PrPolicy, PrStep } from "./step.js";

/**
 * A pull request's life, from its opening to its merge or close. Everything it decides it decides on a look at the forge
 * and the board together, so a signal that is lost or comes twice changes nothing.
 */
export function pullRequestMachine(policy: PrPolicy) {
  return (life: PrLife, event: Stamped<PrEvent>): PrNext => {
    const step = new PrStep(policy, life, event.at);
    on(step, event);
    return step.next();
  };
}

function on(step: PrStep, event: Stamped<PrEvent>) {
  switch (event.type) {
    case "started":
      step.wait();
      return step.look();
    // Nothing was recorded that is not owed again.
    case "resumed":
      return;
    case "signal":
      step.wait();
      return onSignal(step, event.signal);
    case "looked":
      return afterLook(step, event);
    case "look-failed":
      return afterFailedLook(step, event.reason);
    case "timer-fired":
      step.set({ timer: null });
      return lookOrEnd(step);
    case "crashed":
      return afterCrash(step, event);
    default:
      afterTask(step, event);
      return endWhenDone(step);
  }
}

/** One that has ended has only its end left to tell. */
function lookOrEnd(step: PrStep): void {
  if (isFollowed(step.state)) step.look();
  else step.redo();
}

function onSignal(step: PrStep, signal: PrSignal): void {
  if (signal.name === "admit") admit(step, signal.id);
  if (signal.name === "look" && signal.byHand && refusalOf(step.state)) step.set({ mergeTried: null });
  if (signal.name === "rework") {
    keepWords(step);
    step.set({ wanted: { cycle: signal.cycle, feedback: signal.feedback } });
  }
  lookOrEnd(step);
}

function afterLook(step: PrStep, looked: Looked) {
  const { pullRequest, failed } = looked;
  step.set({
    looking: false,
    failures: 0,
    head: pullRequest.head,
    headAt: step.state.head === pullRequest.head ? step.state.headAt : step.at,
    // What could not be fetched is asked for again, also where the forge says that nothing has changed.
    cursor: failed.length > 0 ? null : looked.cursor,
  });
  step.redo();
  if (pullRequest.state !== "open") return afterEnd(step, looked, pullRequest.state);
  if (step.state.phase === "closed") return reopen(step, looked);
  if (isJoining(step.state)) return lookAfterTask(step);
  tellFailed(step, failed);
  noticeDecision(step, looked);
  followRework(step, looked);
  followReviews(step, looked);
  takeIn(step, looked);
  startCycle(step, looked);
  askForReview(step, looked);
  considerMerge(step, looked);
  step.lookLater(nextLookMs(step, looked));
  if (step.state.lookAgain) step.look();
}

/** What is under way decides what this look means. */
function lookAfterTask(step: PrStep): void {
  step.set({ lookAgain: true });
  step.lookLater(5000);
}

/** Once, however often it is tried again. */
function tellFailed(step: PrStep, failed: Looked["failed"]): void {
  const told = failed.map(({ part, result }) => `${part} ${result}`).join(", ");
  if (told === (step.state.toldFailed ?? "")) return;
  step.set({ toldFailed: told });
  for (const { result, part } of failed) step.note({ type: "comments_fetch", result, part });
}

/** Whether it can be merged is worked out by the forge after it was asked. */
function nextLookMs({ policy }: PrStep, { pullRequest }: Looked): number {
  const { poll_seconds } = policy.settings;
  return (pullRequest.mergeable === null ? Math.min(5, poll_seconds) : poll_seconds) * 1000;
}

/** How long, and how often, a closed one is looked at: people change their minds, but not for ever. */
const reopenableMs = 14 * 24 * 3_600_000;
export function closedLookMs({ poll_seconds }: Pick<PullRequestSettings, "poll_seconds">): number {
  return Math.max(poll_seconds, Math.min(10 * poll_seconds, 600)) * 1000;
}

export function isReopenable({ closedAt = null }: PrState, now: number): boolean {
  return closedAt !== null && now - closedAt < reopenableMs;
}

function afterEnd(step: PrStep, looked: Looked, how: "merged" | "closed") {
  if (step.state.phase !== how) {
    // An item that is being made ends with the others, so it is there first.
    if (step.state.owed.some(({ kind }) => kind === "cycle" || kind === "join" || kind === "review"))
      return lookAfterTask(step);
    // What was pushed before the end is answered all the same.
    answerPushed(step, looked);
    return finish(step, how, looked.pullRequest.mergeCommit);
  }
  if (!isReopenable(step.state, step.at)) step.set({ closedAt: null });
  endWhenDone(step);
  if (step.state.lookAgain) step.look();
}

/** Whoever opens it again wants it to go on: what was to be answered when it was closed goes along with the next cycle. */
function reopen(step: PrStep, looked: Looked) {
  const { state, policy } = step;
  // Its end is told first, else the two would cross.
  if (state.owed.some(({ kind }) => kind === "finish")) return step.lookLater(5000);
  step.log("info", `pull request #${policy.pr.number} was opened again, and is followed again`);
  const reopened = (state.reopened ?? 0) + 1;
  const wasCut = reviveCycle(step, looked);
  const forgiven = state.forgiven + (wasCut ? 1 : 0);
  step.set({ phase: "following", closedAt: null, reopened, forgiven, mergeTried: null });
  step.task({ kind: "reopen", cycle: state.cycle, times: reopened });
}

function finish(step: PrStep, how: "merged" | "closed", commit: string | null): void {
  keepWords(step);
  step.set({ phase: how, working: null, wanted: null, lookAgain: false, closedAt: how === "closed" ? step.at : null });
  step.log("info", `pull request #${step.policy.pr.number} was ${how}`);
  step.dropTimer();
  // Nobody has to decide about what is over.
  for (const { kind, key } of step.state.owed) if (kind === "escalate") step.cancel(key);
  step.task({ kind: "finish", how, head: step.state.head, commit });
}

const patience = [5, 30, 120, 600];
function afterFailedLook(step: PrStep, reason: string): void {
  const failures = step.state.failures + 1;
  step.set({ looking: false, lookAgain: false, failures });
  if (failures === 1) step.log("warn", `the forge could not be asked: ${reason}`);
  const seconds = patience[Math.min(failures, patience.length) - 1] ?? 600;
  step.lookLater(seconds * 1000);
}

type TaskEvent = Exclude<
  PrEvent,
  { readonly type: "started" | "resumed" | "signal" | "looked" | "look-failed" | "timer-fired" | "crashed" }
>;

function afterTask(step: PrStep, event: TaskEvent) {
  const task = step.settle(event.key);
  if (!task) return;
  switch (event.type) {
    case "posted":
      if (task.kind !== "post") return;
      rememberPost(step, task, event);
      return markPosted(step, task, "answered");
    case "post-failed":
      if (event.retryable) return step.putOff(task);
      // Its thread is gone, say: there is nowhere to answer any more.
      if (task.kind === "post") markPosted(step, task, "void");
      return step.log("warn", `the forge refused a post: ${event.reason}`);
    case "merge-ended":
      return afterMerge(step, event.outcome);
    case "joined":
      if (task.kind === "join") afterJoin(step, task, event.taken);
      if (step.state.lookAgain && !step.state.looking) step.look();
      return;
    case "cycle-made":
      if (step.state.lookAgain && !step.state.looking) step.look();
      return;
    default:
      if (task.kind === "reopen") step.look();
      return;
  }
}

const remarkKinds = { reply: "inline", summary: "comment", escalation: "comment", review: "review" } as const;

/** A review that was refused may have become a comment: by its id alone nobody knows. */
function rememberPost(step: PrStep, post: PostEffect, posted: Extract<PrEvent, { readonly type: "posted" }>) {
  if (posted.id === null || (post.op === "review" && posted.refused)) return;
  step.set({ posted: [...(step.state.posted ?? []), `${remarkKinds[post.op]}:${posted.id}`] });
}

/** What has ended is over once all of it is told; what could not be told is tried again. */
function endWhenDone(step: PrStep): void {
  const { phase, owed, undone, timer, looking } = step.state;
  if (phase === "following" || owed.length > 0) return;
  const isLooked = isFollowed(step.state);
  if (undone.length === 0 && !isLooked) step.close();
  else if (timer === null && !looking) step.lookLater(undone.length > 0 ? 60_000 : closedLookMs(step.policy.settings));
}

function markPosted(step: PrStep, post: PostEffect, status: "answered" | "void"): void {
  if (post.op !== "reply" && post.op !== "summary") return;
  for (const [id, one] of Object.entries(step.state.deliveries)) {
    const meant = post.op === "reply" ? one.thread === post.thread : post.parts.includes(id);
    if (meant && one.cycle === post.cycle && one.status === "delivered") {
      step.deliver(id, { ...one, status });
    }
  }
}

function afterCrash(step: PrStep, { key, message, effect }: Extract<PrEvent, { readonly type: "crashed" }>) {
  if (effect === "look") return afterFailedLook(step, message);
  if (effect === "wait") return step.wait();
  if (effect === "timer") {
    step.set({ timer: null });
    return step.lookLater(60_000);
  }
  const task = step.settle(key);
  if (!task) return;
  step.log("warn", `${task.kind} could not be done, and is tried again: ${message}`);
  step.putOff(task);
  endWhenDone(step);
}
