import type { Ending } from "./state.js";
import type { Step } from "./step.js";

/** The run was told to end before the issue was claimed, or as it was: it never starts. */
export const neverStarted: Ending = {
  status: "not-claimed",
  message: "The run ended first",
  error: null,
  commit: null,
};

/** The run was told to end or aborted, and no prompt of this life was sent yet: none is. A trigger is concluded by its own rules. */
export function isLeftUnbegun(step: Step): boolean {
  const { draining, halt, turns } = step.state;
  const isAborted = halt === "abort";
  if (!(draining || isAborted) || turns > 0 || step.policy.trigger) return false;
  const message = `The run ${isAborted ? "was aborted" : "ended"} before its first prompt; resumable`;
  step.end({ status: "interrupted", message, error: null, commit: null });
  return true;
}
