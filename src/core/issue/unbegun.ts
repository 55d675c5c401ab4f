import type { Ending } from "./state.js";
import type { Step } from "./step.js";

/** The run was told to end before the issue was claimed, or as it was: it never starts. */
export const neverStarted: Ending = {
  status: "not-claimed",
  message: "The run ended first",
  error: null,
  commit: null,
};

/** The run was told to end, and no prompt of this life was sent yet: none is. A trigger is concluded by its own rules. */
export function isLeftUnbegun(step: Step): boolean {
  const { draining, turns } = step.state;
  if (!draining || turns > 0 || step.policy.trigger) return false;
  const message = "The run ended before its first prompt; resumable";
  step.end({ status: "interrupted", message, error: null, commit: null });
  return true;
}
