import type { CommandEnded, IssueEvent } from "./events.js";
import { absorbGateCommand } from "./gate.js";
import { absorbSessionEndCommand } from "./session-end.js";
import { queuedCommand } from "./session-end-clock.js";
import { reportConclusion } from "./session-end-result.js";
import { isSetUp } from "./set-up.js";
import type { Owed } from "./state.js";
import type { Step } from "./step.js";
import { endTakenAway } from "./taken-away.js";
import { isLeftUnbegun } from "./unbegun.js";

/**
 * Abort and stop. Turns get their clean signal and stay owed until they settle; commands end by themselves, or after a
 * stop's patience; timers are dropped, and commands that have not begun. When nothing is in flight any more the life ends as the first of the two said.
 */
export function halt(step: Step, how: "abort" | "stop"): void {
  noteHalt(step, how);
  windDown(step);
}

export function noteHalt(step: Step, how: "abort" | "stop"): void {
  const { state } = step;
  const isClosing = state.phase === "closing";
  // Its end is decided then; how long the tracker is waited for is not.
  if (!isClosing) step.set({ halt: state.halt ?? how });
  step.set({ hurry: state.hurry || (how === "stop" && (isClosing || state.halt === "abort")) });
}

/** Nothing can be said about the work without the tracker: it ends like a stop, and a resume goes on with it. */
export function loseTracker(step: Step, reason: string): void {
  // A stop is what ends it then, and may be what ended the call.
  if (isStopping(step.state)) return;
  step.set({ trackerOwed: true, trackerAway: step.state.trackerAway ?? reason });
  halt(step, "stop");
}

/** Its work is nobody's any more: it ends as where that is seen before a landing. */
export function loseIssue(step: Step): void {
  if (isStopping(step.state)) return;
  step.set({ issueGone: true });
  halt(step, "stop");
}

export function isHalting({ state }: Step): boolean {
  if (state.halt === null || state.phase === "claiming" || state.phase === "closing") return false;
  return state.phase !== "finalizing" || isStopping(state);
}

/** A stop, not only an abort: what has not been proposed for landing does not go on. */
export function isStopping(state: Step["state"]): boolean {
  return state.halt === "stop" || state.hurry;
}

export function isInFlight(step: Step): boolean {
  return step.state.owed.some((owed) => owed.kind !== "wait" && owed.kind !== "stop");
}

export function endHalted(step: Step) {
  const aborted = step.state.halt === "abort";
  if (aborted && isLeftUnbegun(step)) return;
  const { trackerAway: away, issueGone = false } = step.state;
  const unasked = away === undefined ? "SIGINT received" : "tracker_unreachable";
  const reason = aborted ? "run_aborted" : issueGone ? "closed" : unasked;
  reportConclusion(step, { result: "interrupted", reason });
  if (aborted) return step.fail("run_aborted", "The run was aborted");
  if (issueGone) return endTakenAway(step, "deleted");
  if (away !== undefined) {
    const message = `The tracker could not be reached; resumable: ${away}`;
    return step.end({ status: "interrupted", message, error: "tracker_unreachable", commit: null });
  }
  step.end({ status: "interrupted", message: "Stopped; resumable", error: null, commit: null });
}

/** A check that ended by itself while the life is wound down counts like any other; one that was stopped proves nothing. */
export function absorbCommand(step: Step, event: CommandEnded): void {
  if (event.stopped || isSetUp(event.key)) return;
  if (step.state.phase === "session-ending") absorbSessionEndCommand(step, event);
  if (step.state.phase === "gating") absorbGateCommand(step, event);
}

export function windDown(step: Step): void {
  if (!isHalting(step)) return;
  for (const owed of step.state.owed) {
    if (owed.kind === "timer" || owed.key === queuedCommand(step.state)) step.cancel(owed.key);
    else if (owed.kind === "turn") step.oweStop(owed, "clean");
    else if (owed.kind === "command" && isStopping(step.state)) step.oweStop(owed, "patient");
  }
}

/** A performer broke: the failing event of that kind of effect, never a pass. */
export function failureOf(owed: Owed, event: Extract<IssueEvent, { type: "crashed" }>): IssueEvent {
  const { key, message } = event;
  switch (owed.kind) {
    case "turn":
      return {
        type: "turn-ended",
        key,
        outcome: { type: "failed", reason: message, broke: true },
        sessionId: null,
        usage: null,
        seconds: 0,
        snapshot: null,
        marker: null,
        review: null,
        until: 0,
      };
    case "command":
      return {
        type: "command-ended",
        key,
        exitCode: null,
        timedOut: false,
        stopped: false,
        seconds: 0,
        digest: message,
        outputPath: "",
        tails: message,
        discarded: [],
      };
    case "worktree":
      return { type: "worktree-failed", key, reason: message };
    case "land":
      return { type: "land-ended", key, outcome: { type: "refused", reason: message } };
    case "push":
      return { type: "push-ended", key, outcome: { type: "unreachable", reason: message } };
    case "pull-request":
      return { type: "pull-request-ended", key, outcome: { type: "unreachable", reason: message } };
    case "tracker":
      return { type: "tracker-done", key, ok: false, reason: message, lost: false };
    case "dossier":
      return { type: "dossier-written", key, path: null, reason: message };
    case "timer":
      return { type: "timer-fired", key };
    case "stop":
    case "wait":
      return { type: "stop-done", key };
  }
}
