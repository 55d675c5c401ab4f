import type { QueuedTrigger, RunState, TriggersState } from "./state.js";
import { isEnding, type RunStep } from "./step.js";

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

/** Rows of an older version have none. */
export function triggersOf(state: RunState): TriggersState {
  return state.triggers ?? noTriggers;
}

export function setTriggers(step: RunStep, patch: Partial<TriggersState>): void {
  step.set({ triggers: { ...triggersOf(step.state), ...patch } });
}

export function queueTrigger(step: RunStep, trigger: QueuedTrigger): void {
  if (isEnding(step.state)) return;
  setTriggers(step, { queue: [...triggersOf(step.state).queue, trigger] });
}

/** What should have fired does not, because the run ends. */
export function tellSkipped(step: RunStep, trigger: QueuedTrigger["name"], about: string): void {
  step.report({ type: "trigger-completed", trigger, about, result: "skipped", reason: "run_aborted" });
}
