import type { Finding } from "../finding.js";
import type { Close } from "./entry.js";

/** What a trigger came to in a later run, as far as it is about what is on the branch. */
export interface LaterTrigger {
  readonly runId: string;
  readonly results: readonly { readonly ref: string; readonly passed: boolean }[];
  /** The findings of its run: one defect is open once, under the run that saw it last. */
  readonly found: readonly string[];
}

/** How that closes a finding of an earlier run's; null: it says nothing about it. */
export function settleOlder(finding: Finding, later: LaterTrigger): Pick<Close, "status" | "reason"> | null {
  const { id, source, reviewer } = finding;
  const { runId, results, found } = later;
  const result = source === "command" ? results.find(({ ref }) => ref === reviewer) : undefined;
  if (result?.passed) return { status: "resolved", reason: `${reviewer} passed in run ${runId}` };
  if (result) return { status: "superseded", reason: `${reviewer} failed again in run ${runId}` };
  return found.includes(id) ? { status: "superseded", reason: `found again in run ${runId}` } : null;
}
