import type { Cause } from "./explanation.js";
import { plural } from "./format.js";
import { listOf, type Neighbour } from "./neighbours.js";
import { shellWord } from "./shell-word.js";

/** What is known of an epic's own end: it is verified and completed, never run. */
export interface EpicFacts {
  /** The run that verifies it, or will when its triggers before that are over. */
  readonly verifier: { readonly runId: string; readonly driverAlive: boolean; readonly isAtIt: boolean } | null;
  /** How often it was verified and did not pass, in the runs that are still known. */
  readonly inVain: number;
  readonly openFindings: number;
  /** A living run that looks for epics like it and has not verified it yet. */
  readonly looker: string | null;
}

export function causeOfEpic(
  { issueId, children }: { readonly issueId: string; readonly children: readonly Neighbour[] },
  { verifier, inVain, openFindings, looker }: EpicFacts,
): Cause {
  const open = children.filter(({ status }) => status !== "completed");
  const next = `ratchet run --scope epic:${shellWord(issueId)}`;
  if (children.length === 0)
    return { reason: "it is an epic, which is never run itself, and it has no issues", next: null };
  if (verifier !== null) return causeOfVerifier(verifier);
  const vain = inVain === 0 ? "" : `; it was verified ${plural(inVain, "time")} in vain`;
  const found = openFindings === 0 ? vain : `${vain}; ${plural(openFindings, "finding")} of its verification open`;
  if (open.length > 0) {
    const reason = `it is an epic, which is never run itself; of its issues ${listOf(open)} ${open.length === 1 ? "is" : "are"} not completed`;
    return { reason: `${reason}${found}`, blockers: open.map(({ id }) => id), next };
  }
  const done = "it is an epic whose issues are all completed";
  if (looker !== null) {
    return {
      reason: `${done}${found}; run ${looker} sees to it when it has nothing else to start`,
      next: "ratchet status",
    };
  }
  if (found === "") return { reason: done, next };
  const look = openFindings === 0 ? next : `ratchet findings ${shellWord(issueId)}`;
  return { reason: `${done}${found}; the next run verifies it again`, next: look };
}

function causeOfVerifier({ runId, driverAlive, isAtIt }: NonNullable<EpicFacts["verifier"]>): Cause {
  if (!driverAlive) {
    const what = isAtIt ? "which was verifying it" : "which was to verify it";
    return { reason: `the process of run ${runId}, ${what}, is gone`, next: "ratchet run" };
  }
  if (isAtIt) return { running: true, reason: `run ${runId} verifies it now`, next: null };
  return { reason: `run ${runId} verifies it when its triggers before that are over`, next: "ratchet status" };
}
