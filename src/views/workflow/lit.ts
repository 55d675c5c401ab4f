import type { StageOutcome } from "../../workflow/graph.js";

/** How a stage stands while its workflow runs: what a drawing lights up. */
export type LitState = "running" | "waiting" | StageOutcome;
export type Lit = (stageId: string) => LitState | null;

/** Five outcomes, two lights. */
export function litWord(state: LitState): "running" | "waiting" | "success" | "fail" {
  if (state === "running" || state === "waiting") return state;
  return state === "success" || state === "skipped" ? "success" : "fail";
}
