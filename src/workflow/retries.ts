import type { Stage } from "./graph.js";

/** Whether a visit may end because no try is left. An agent asks for another one by itself. */
export function canUseUpRetries({ kind, retriesFail, maxAttempts }: Stage): boolean {
  return kind === "llm" || (retriesFail && maxAttempts > 1);
}
