import type { Ledger } from "../core/finding.js";
import { openFindings } from "../core/ledger/ledger.js";
import type { IssueRecord } from "../core/record.js";
import type { ResumeFrom } from "../core/run/effects.js";
import type { AgentKind } from "../core/settings.js";

/** What an earlier life's record gives a new one. Findings that were waived or resolved since are not replayed. */
export function resumeFrom(
  last: { readonly runId: string; readonly record: IssueRecord },
  ledger: Ledger,
  agent: AgentKind,
): ResumeFrom {
  const { record } = last;
  const open = openFindings(ledger, { sources: ["review"] });
  const stored = record.last_review_issues ?? [];
  return {
    runId: last.runId,
    // Another program does not know the session of the one before.
    sessionId: record.agent === agent ? (record.session_id ?? null) : null,
    blocking: open
      .filter((one) => stored.some(({ file, title }) => file === one.file && title === one.title))
      .map(({ id }) => id),
    baseSha: record.base_sha ?? null,
    seen: record.seen ?? null,
  };
}
