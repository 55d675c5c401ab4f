import type { Settings } from "../settings.js";
import { verificationOf } from "../verification.js";
import type { RunOptions } from "./effects.js";
import type { RunPolicy } from "./step.js";

/** What a run is decided by. A landing or a push that a person asked for is no run of theirs: nothing else fires, nobody reviews. */
export function runPolicy(settings: Settings, options: RunOptions): RunPolicy {
  const { validation_triggers: triggers, budgets } = settings;
  const lands = options.only === "land" || options.only === "push";
  const verify = verificationOf(settings) === null ? "never" : lands ? "later" : "now";
  const findsEpics = options.scope.type === "all" || options.scope.type === "epic";
  return { ...options, minutes: budgets.run.minutes, verify, findsEpics, ...(lands ? {} : { triggers }) };
}
