import type { RunStatus } from "../report.js";
import type { RunState } from "./state.js";
import type { RunPolicy } from "./step.js";
import { triggersOf } from "./trigger-state.js";

/** The worst of what happened: 130 before 3 before 1. */
export function outcome(
  state: RunState,
  { unverified, only }: { readonly unverified: boolean; readonly only: RunPolicy["only"] | undefined },
): readonly [RunStatus, number] {
  if (state.draining || state.stopping) return ["interrupted", 130];
  if (state.aborting) return ["aborted", triggersOf(state).aborted ? 1 : 3];
  if (state.external) return ["failed", 3];
  if (state.failed > 0 || state.broken || state.budget !== undefined) return ["failed", 1];
  if (triggersOf(state).failed || unverified || state.stuck !== undefined) return ["failed", 1];
  // Whoever asked for one landing has not got it, whatever the reason.
  if (only === "land" && (state.interrupted ?? 0) > 0) return ["failed", 1];
  return ["succeeded", 0];
}
