import type { FinishedEpic } from "../ports/tracker.js";
import type { FireOn } from "../settings.js";
import type { RunEvent, TriggerStart } from "./effects.js";
import type { FiredTrigger, QueuedTrigger, RunState, TriggersState } from "./state.js";
import { isEnding, type RunStep } from "./step.js";

/**
 * When the triggers of a run fire. They share the run's worktree, so one goes on at a time and the others queue; issues
 * never wait for them, only the end of the run does. run_end is decided once, when everything else is over.
 */
type TriggerEnded = Extract<RunEvent, { type: "trigger-ended" }>;

const noTriggers: TriggersState = {
  startCommit: "",
  fired: 0,
  folders: 0,
  running: null,
  queue: [],
  runEnd: false,
  failed: false,
  aborted: false,
  looking: [],
  looks: 0,
  epics: [],
};
const epicsMax = 100;

/** Rows of an older version have none. */
export function triggersOf(state: RunState): TriggersState {
  return state.triggers ?? noTriggers;
}

/** An issue has ended with an outcome; at most one periodic trigger waits. */
export function countFinished(step: RunStep): void {
  const { state, policy } = step;
  const interval = policy.triggers?.periodic?.interval;
  const finished = state.succeeded + state.failed;
  if (interval === undefined || finished % interval !== 0) return;
  if (triggersOf(state).queue.some(({ name }) => name === "periodic")) return;
  queue(step, { name: "periodic", about: `finished=${finished}` });
}

/** An issue, or an epic, is done: perhaps the epic above it is too. */
export function lookAtEpic(step: RunStep, child: string): void {
  const { looks, looking } = triggersOf(step.state);
  const key = `epic:${looks + 1}`;
  setTriggers(step, { looks: looks + 1, looking: [...looking, key] });
  step.effects.push({ kind: "epic", key, child });
}

export function epicChecked(step: RunStep, key: string, epic: FinishedEpic | null): void {
  const { looking, epics } = triggersOf(step.state);
  setTriggers(step, { looking: looking.filter((one) => one !== key) });
  if (epic === null || epics.includes(epic.id)) return;
  setTriggers(step, { epics: [...epics, epic.id].slice(-epicsMax) });
  step.log("info", `epic ${epic.id} completed: all of its children are`);
  if (!epic.isTop) lookAtEpic(step, epic.id);
  countEpic(step, epic);
}

/** A look that broke: the epic stays as it is. */
export function lookBroke(step: RunStep, key: string): boolean {
  if (!triggersOf(step.state).looking.includes(key)) return false;
  epicChecked(step, key, null);
  return true;
}

function countEpic(step: RunStep, epic: FinishedEpic): void {
  const trigger = step.policy.triggers?.epic_completion;
  if (!trigger || trigger.fire_on === "failure") return;
  if (trigger.epic_depth === "top_level" && !epic.isTop) return;
  queue(step, { name: "epic_completion", about: `epic_id=${epic.id}` });
}

/** Fires what is due. True: the run cannot end yet. */
export function goOnWithTriggers(step: RunStep, isIdle: boolean): boolean {
  if (isEnding(step.state)) setTriggers(step, { queue: [] });
  const { running, queue: waiting, looking } = triggersOf(step.state);
  if (running) return true;
  const [next, ...rest] = waiting;
  if (next) {
    setTriggers(step, { queue: rest });
    fire(step, next);
    return true;
  }
  return looking.length > 0 || (isIdle && endsWithRunEnd(step));
}

export function triggerEnded(step: RunStep, event: TriggerEnded): void {
  const triggers = triggersOf(step.state);
  const { running } = triggers;
  if (running?.key !== event.key) return;
  const failed = triggers.failed || event.result === "fail";
  setTriggers(step, { running: null, folders: event.folders, failed });
  if (event.trackerOwed) step.set({ external: true });
  if (event.abort && !isEnding(step.state)) {
    step.set({ aborting: true });
    setTriggers(step, { aborted: true });
  }
  const { result, reason, commands, code_review_result } = event;
  if (running.name === "run_end") {
    step.report({ type: "run-end-completed", result, reason, commands, code_review_result });
  } else {
    const level = result === "pass" ? "info" : "warn";
    step.log(level, `[trigger] ${running.name} completed: ${running.about}, result=${result}`);
  }
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
  const trigger = policy.triggers?.run_end;
  if (!trigger || triggersOf(state).runEnd) return false;
  setTriggers(step, { runEnd: true });
  if (isEnding(state)) {
    step.report({ type: "run-end-skipped", reason: "run_aborted" });
    return false;
  }
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

function queue(step: RunStep, trigger: QueuedTrigger): void {
  if (isEnding(step.state)) return;
  setTriggers(step, { queue: [...triggersOf(step.state).queue, trigger] });
}

function fire(step: RunStep, { name, about }: QueuedTrigger): void {
  const { state } = step;
  const { fired, folders, startCommit } = triggersOf(state);
  const number = fired + 1;
  const running: FiredTrigger = { key: `trigger:${number}:${name}`, name, number, about };
  setTriggers(step, { fired: number, running });
  const start: TriggerStart = {
    name,
    number,
    folders,
    startCommit,
    ...(state.budget === undefined ? {} : { budget: state.budget }),
  };
  step.effects.push({ kind: "trigger", key: running.key, start });
  const { succeeded: success_count, failed } = state;
  if (name === "run_end") {
    step.report({ type: "run-end-started", success_count, total_count: success_count + failed });
  } else step.log("info", `[trigger] ${name} started: ${about}`);
}

export function setTriggers(step: RunStep, patch: Partial<TriggersState>): void {
  step.set({ triggers: { ...triggersOf(step.state), ...patch } });
}
