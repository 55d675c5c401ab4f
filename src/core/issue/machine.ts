import type { LedgerChange } from "../ledger/ledger.js";
import { waive } from "../ledger/ledger.js";
import { leaveOut } from "./budget.js";
import { afterClaim, afterLook, afterNoWorktree, afterSetup, afterWorktree, begin } from "./claim.js";
import { afterClosingTracker, afterDossier, afterRemoval, enterClosing, sayLetGo, sayParked } from "./close.js";
import type { CommandEnded, EndingWord, IssueEvent, IssueSignal, SlowTracker, Stamped, TurnEnded } from "./events.js";
import {
  afterLand,
  afterLandingCommand,
  afterLandingWait,
  afterPullRequest,
  afterPush,
  enterFinalize,
} from "./finalize.js";
import { afterGateCommand, continueGate, enterGate } from "./gate.js";
import {
  absorbCommand,
  endHalted,
  failureOf,
  halt,
  isHalting,
  isInFlight,
  loseIssue,
  loseTracker,
  noteHalt,
  windDown,
} from "./halt.js";
import { afterTurn } from "./implement.js";
import type { IssuePolicy } from "./policy.js";
import { afterReworkCommit } from "./pull-request.js";
import { afterReviewer, enterReview } from "./review.js";
import { resendReviewer, settleReviewer, startQueued } from "./reviewers.js";
import {
  afterFixerCommit,
  afterSessionEndCommand,
  afterSessionEndReviewer,
  afterSessionEndStop,
  afterSessionEndTurn,
  continueSessionEnd,
  drainSessionEnd,
  enterSessionEnd,
  resumeSessionEnd,
  sessionEndTimeout,
} from "./session-end.js";
import { afterPlace, giveTimeBack, hasTimeLeft } from "./session-end-clock.js";
import { reportConclusion } from "./session-end-result.js";
import { failSetUp, hasSetUp, isSetUp, noteRemade } from "./set-up.js";
import type { IssueLife, Owed, Phase } from "./state.js";
import { type IssueNext, Step } from "./step.js";
import { learnSession, resendTurn } from "./turns.js";

export type { IssuePolicy } from "./policy.js";
export type { IssueLife } from "./state.js";
export { newIssue } from "./state.js";
export type { IssueNext } from "./step.js";

/** An issue's life as a pure machine: what happened in, what is owed out. */
export function issueMachine(policy: IssuePolicy): (life: IssueLife, event: Stamped<IssueEvent>) => IssueNext {
  return (life, event) => {
    const step = new Step(policy, life, event.at);
    if (life.state.phase === "done" || !handle(step, event)) return { state: life, effects: [] };
    // Behind what arrived with it, which may be what it drops.
    if (event.ending === "abort" || event.ending === "stop") windDown(step);
    enterPhases(step);
    if (isHalting(step) && !isInFlight(step)) {
      endHalted(step);
      enterPhases(step);
    }
    return step.next();
  };
}

const enter: Record<Phase, (step: Step) => void> = {
  claiming: () => undefined,
  preparing: () => undefined,
  implementing: () => undefined,
  gating: enterGate,
  "session-ending": enterSessionEnd,
  reviewing: enterReview,
  finalizing: enterFinalize,
  closing: enterClosing,
  done: () => undefined,
};

function enterPhases(step: Step): void {
  while (step.entering !== null) {
    const phase = step.entering;
    step.entering = null;
    enter[phase](step);
  }
}

/** False: nobody waits for this, so nothing changes. */
function handle(step: Step, event: Stamped<IssueEvent>): boolean {
  if (event.ending !== undefined) hearEnding(step, event.ending);
  if (event.lateMs !== undefined) giveTimeBack(step, event.lateMs);
  if (event.type === "started") begin(step);
  else if (event.type === "resumed") return resumed(step, event.since);
  else {
    const owed = step.settle(event.key);
    if (!owed) return false;
    if (event.type === "signal") signalled(step, event.signal);
    else if (owed.kind === "wait") step.oweSignal();
    else if (event.type !== "crashed") settled(step, owed, event);
    else if (event.trackerAway && needsTracker(owed)) withoutTracker(step, owed, event.message);
    else if (event.issueGone && owed.kind === "turn") withoutIssue(step, owed, event.message);
    else if (judges(step, owed)) step.fail("command_failed_to_run", `A check could not be run: ${event.message}`);
    else settled(step, owed, failureOf(owed, event));
  }
  return true;
}

/** Its signal may still be on the way: what has not begun does not begin. */
function hearEnding(step: Step, word: EndingWord): void {
  if (word !== "abort") step.set({ draining: true });
  if (word !== "drain") noteHalt(step, word);
}

/** A prompt is told to be sent when its turn is owed: one that could not be made is taken back, as its turn never ends. */
function withoutTracker(step: Step, owed: Owed, reason: string): void {
  if (owed.kind === "turn") takePromptBack(step, owed, reason);
  loseTracker(step, reason);
}

function withoutIssue(step: Step, owed: Owed, reason: string): void {
  takePromptBack(step, owed, reason);
  loseIssue(step);
}

function takePromptBack(step: Step, { folder }: Owed, reason: string): void {
  step.log("warn", `The prompt of ${folder} was not sent after all: ${reason}`);
}

function needsTracker({ kind }: Owed): boolean {
  return kind === "turn" || kind === "land";
}

/** A gate command that could not even be run says nothing about the work: no agent can mend that. */
function judges({ state }: Step, owed: Owed): boolean {
  return owed.kind === "command" && (state.phase === "gating" || state.phase === "finalizing");
}

function resumed(step: Step, since: number | undefined): boolean {
  const { phase, owed } = step.state;
  const wasAway = leaveOut(step, since);
  const command = owed.find((one) => one.kind === "command");
  if (command && isHalting(step)) step.cancel(command.key);
  else if (phase === "session-ending") return resumeSessionEnd(step) || wasAway;
  else return wasAway;
  return true;
}

function signalled(step: Step, signal: IssueSignal) {
  step.oweSignal();
  switch (signal.name) {
    case "drain":
      step.set({ draining: true });
      return drainSessionEnd(step);
    case "abort":
    case "stop":
      return halt(step, signal.name);
    case "budget":
      return step.set({ runBudget: signal.reason });
    case "slow":
      return sayWaiting(step, signal);
    case "place":
      return afterPlace(step, signal);
    case "session":
      return learnSession(step, signal);
    case "waive": {
      const { finding, reason } = signal;
      const change: LedgerChange = waive(step.ledger, { ids: [finding], reason, at: step.at });
      step.apply(change);
    }
  }
}

/** One that has answered meanwhile is waited for no more. */
function sayWaiting(step: Step, { key, call }: SlowTracker): void {
  if (!step.state.owed.some((owed) => owed.key === key)) return;
  const what = `the tracker's answer to ${call}`;
  step.set({ slow: { key, for: what } });
  step.report({ type: "waiting", for: what, until: null });
}

function settled(step: Step, owed: Owed, event: IssueEvent) {
  switch (event.type) {
    case "turn-ended":
      return turnEnded(step, owed, event);
    case "command-ended":
      return commandEnded(step, event);
    case "timer-fired":
      return isHalting(step) ? undefined : timerFired(step, owed);
    case "tracker-done":
      return step.state.phase === "claiming" ? afterClaim(step, event) : afterClosingTracker(step, event);
    case "worktree-ready":
      return afterWorktree(step, event);
    case "worktree-committed":
      if (event.lost !== undefined) step.log("warn", event.lost);
      noteRemade(step, event);
      sayLetGo(step, event.parked);
      if (isHalting(step)) return step.look(event.snapshot);
      return step.policy.item ? afterReworkCommit(step, event.snapshot) : afterFixerCommit(step, event.snapshot);
    case "worktree-seen":
      return afterLook(step, event);
    case "worktree-removed":
      sayParked(step, event.parked);
      return afterRemoval(step, null);
    case "worktree-failed":
      if (step.state.phase === "closing") return afterRemoval(step, event.reason);
      return isHalting(step) ? undefined : afterNoWorktree(step, event);
    case "dossier-written":
      return afterDossier(step, event);
    case "land-ended":
      return afterLand(step, event.outcome);
    case "push-ended":
      return afterPush(step, event.outcome);
    case "pull-request-ended":
      return afterPullRequest(step, event.outcome);
    case "stop-done":
      return isHalting(step) ? undefined : afterSessionEndStop(step);
    default:
      return;
  }
}

function turnEnded(step: Step, owed: Owed, event: TurnEnded) {
  const ending = step.state.phase === "session-ending";
  noteRemade(step, event);
  if (owed.slot === undefined) return ending ? afterSessionEndTurn(step, event) : afterTurn(step, event);
  settleReviewer(step, owed.slot, event);
  if (isHalting(step)) return;
  if (ending) afterSessionEndReviewer(step);
  else afterReviewer(step);
}

function commandEnded(step: Step, event: CommandEnded) {
  const { phase } = step.state;
  noteRemade(step, event);
  if (phase === "finalizing") return afterLandingCommand(step, event);
  if (isHalting(step)) return absorbCommand(step, event);
  if (phase === "preparing") return afterSetup(step, event);
  if (isSetUp(event.key)) return afterSetupAgain(step, event);
  if (phase === "gating") return afterGateCommand(step, event);
  if (phase === "session-ending") return afterSessionEndCommand(step, event);
}

/** In the middle of the life: whatever waited for it goes on. */
function afterSetupAgain(step: Step, event: CommandEnded) {
  const { phase, turn } = step.state;
  if (!hasSetUp(step, event)) {
    reportConclusion(step, { result: "fail", reason: "setup_failed" });
    return failSetUp(step, event);
  }
  step.set({ unready: false });
  if (turn !== null) return resendTurn(step);
  if (phase === "gating") return continueGate(step);
  if (phase === "session-ending") return continueSessionEnd(step);
  startQueued(step);
  afterReviewer(step);
}

function reviewerAgain(step: Step, slot: string): void {
  resendReviewer(step, slot);
  if (step.state.phase === "session-ending") afterSessionEndReviewer(step);
  else afterReviewer(step);
}

function timerFired(step: Step, owed: Owed) {
  if (owed.slot !== undefined) return reviewerAgain(step, owed.slot);
  if (owed.key === step.state.sessionEnd?.timer) return hasTimeLeft(step) ? undefined : sessionEndTimeout(step);
  if (step.state.phase === "finalizing") return afterLandingWait(step);
  resendTurn(step);
}
