import type { Backoff, Fidelity, StageOutcome } from "./graph.js";

/** What holds where a file says nothing, and the words that files may use: the same in KDL and in DOT. */
export const usualToolMs = 300_000;
export const usualParallel = 4;
export const usualWorkspace = "default";
export const usualBackoff: Backoff = { kind: "exponential", delayMs: 1000, maxDelayMs: 60_000 };
export const noBackoff: Backoff = { kind: "none", delayMs: 0, maxDelayMs: 0 };

export const fidelities: readonly Fidelity[] = [
  "full",
  "truncate",
  "compact",
  "summary:low",
  "summary:medium",
  "summary:high",
];

export const outcomes: readonly StageOutcome[] = ["success", "partial_success", "fail", "retry", "skipped"];
