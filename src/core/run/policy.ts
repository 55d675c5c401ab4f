import type { Settings } from "../settings.js";
import type { RunOptions } from "./effects.js";
import type { RunPolicy } from "./step.js";

/** What a run is decided by. A landing that a person asked for is no run of theirs: nothing else fires. */
export function runPolicy(settings: Settings, options: RunOptions): RunPolicy {
  const { validation_triggers: triggers, budgets } = settings;
  return { ...options, minutes: budgets.run.minutes, ...(options.only === "land" ? {} : { triggers }) };
}
