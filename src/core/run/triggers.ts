import type { FireOn } from "../settings.js";
import type { RunEvent, TriggerStart } from "./effects.js";
import { lookAtLast, toldOf, verificationEnded } from "./epics.js";
import type { FiredTrigger, QueuedTrigger, RunState } from "./state.js";
import { isEnding, type RunStep } from "./step.js";
import { queueTrigger, setTriggers, tellSkipped, triggersOf } from "./trigger-state.js";

/**
 * When the triggers of a run fire. They share the run's worktree, so one goes on at a time and the others queue; issues
 * never wait for them, only the end of the run does. run_end is decided once, when everything else is over.
 */
type TriggerEnded = Extract<RunEvent, { type: "trigger-ended" }>;

/**
 * An issue has ended with an outcome; at most one periodic trigger waits. An issue that is taken again counts once, so
 * the same number may be reached a second time: each period is over once.
 */
export function countFinished(step: RunStep): void {
  const { state, policy } = step;
  const interval = policy.triggers?.periodic?.interval;
  const finished = state.succeeded + state.failed;
  if (interval === undefined) return;
  const over = Math.floor(finished / interval);
  if (over <= (triggersOf(state).periods ?? Math.floor((finished - 1) / interval))) return;
  setTriggers(step, { periods: over });
  if (triggersOf(state).queue.some(({ name }) => name === "periodic")) return;
  queueTrigger(step, { name: "periodic", about: "" });
}

/** Fires what is due. True: the run cannot end yet. */
export function goOnWithTriggers(step: RunStep, isIdle: boolean): boolean {
  if (isEnding(step.state)) dropQueue(step);
  const { running, queue: waiting, looking } = triggersOf(step.state);
  if (running) return true;
  const [next, ...rest] = waiting;
  if (next) {
    setTriggers(step, { queue: rest });
    fire(step, next);
    return true;
  }
  return looking.length > 0 || (isIdle && (lookAtLast(step) || endsWithRunEnd(step)));
}

/** An epic is completed once: nobody else will fire for it. */
function dropQueue(step: RunStep): void {
  const { queue } = triggersOf(step.state);
  for (const { name, about } of queue) if (name === "epic_completion") tellSkipped(step, name, about);
  setTriggers(step, { queue: [] });
}

export function triggerEnded(step: RunStep, event: TriggerEnded): void {
  const triggers = triggersOf(step.state);
  const { running } = triggers;
  if (running?.key !== event.key) return;
  // A verification that failed may pass later in the run: it counts only as long as its epic is open.
  const failed = triggers.failed || (event.result === "fail" && running.epic === undefined);
  setTriggers(step, { running: null, folders: event.folders, failed });
  if (event.trackerOwed) step.set({ external: true });
  if (event.abort && !isEnding(step.state)) {
    step.set({ aborting: true });
    setTriggers(step, { aborted: true });
  }
  const { result, reason, commands, code_review_result } = event;
  const why = event.message === undefined ? {} : { message: event.message };
  if (running.name === "run_end") {
    step.report({ type: "run-end-completed", result, reason, ...why, commands, code_review_result });
  } else {
    const { name: trigger, about, epic } = running;
    step.report({ type: "trigger-completed", trigger, about, result: epic ? toldOf(event) : result, reason, ...why });
  }
  if (running.epic) verificationEnded(step, running.epic, event);
}

/** Whoever drove it broke: it has not passed. */
export function triggerCrashed(step: RunStep, key: string): boolean {
  const { running, folders } = triggersOf(step.state);
  if (running?.key !== key) return false;
  const nothing = { commands: [], code_review_result: null, abort: false, trackerOwed: false, folders };
  triggerEnded(step, { type: "trigger-ended", key, result: "fail", reason: "crashed", ...nothing });
  return true;
}

function endsWithRunEnd(step: RunStep): boolean {
  const { state, policy } = step;
  const { triggers } = policy;
  if (!triggers || triggersOf(state).runEnd) return false;
  // Whoever waits for the end of a run is told that there is none, also where nothing was to be run at it.
  if (isEnding(state)) {
    setTriggers(step, { runEnd: true });
    step.report({ type: "run-end-skipped", reason: "run_aborted" });
    return false;
  }
  const trigger = triggers.run_end;
  if (!trigger) return false;
  setTriggers(step, { runEnd: true });
  if (!fires(trigger.fire_on, state)) {
    step.report({ type: "run-end-skipped", reason: "fire_on_not_met" });
    return false;
  }
  fire(step, { name: "run_end", about: "" });
  return true;
}

/** One is enough: success means at least one success, not success alone. */
function fires(on: FireOn, { succeeded, failed }: RunState): boolean {
  return (on !== "failure" && succeeded > 0) || (on !== "success" && failed > 0);
}

function fire(step: RunStep, { name, about: queuedFor, epic }: QueuedTrigger): void {
  const { state } = step;
  // More may have finished while it waited for its turn, and what it looks at has theirs in it.
  const about = name === "periodic" ? `finished=${state.succeeded + state.failed}` : queuedFor;
  const { fired, folders, startCommit } = triggersOf(state);
  const number = fired + 1;
  const key = `trigger:${number}:${name}`;
  const running: FiredTrigger = { key, name, number, about, ...(epic ? { epic } : {}) };
  setTriggers(step, { fired: number, running });
  const start: TriggerStart = {
    name,
    number,
    folders,
    startCommit,
    ...(state.budget === undefined ? {} : { budget: state.budget }),
    ...(epic ? { epic: epic.id } : {}),
  };
  step.owe({ kind: "trigger", key, start });
  const { succeeded: success_count, failed } = state;
  if (name === "run_end") {
    step.report({ type: "run-end-started", success_count, total_count: success_count + failed });
  } else step.report({ type: "trigger-started", trigger: name, about });
}
