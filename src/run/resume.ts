import type { Finding, Ledger } from "../core/finding.js";
import { findingId, openFindings } from "../core/ledger/ledger.js";
import type { IssueRecord, StoredReviewIssue } from "../core/record.js";
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
    sessionId: isOf(record, agent) ? (record.session_id ?? null) : null,
    blocking: open.filter((one) => stored.some((issue) => isAbout(one, issue))).map(({ id }) => id),
    baseSha: record.base_sha ?? null,
    seen: record.seen ?? null,
  };
}

/** Another program does not know the session of the one before. Where a record does not say whose it is, it is tried. */
function isOf({ agent }: IssueRecord, kind: AgentKind): boolean {
  return (agent ?? "") === "" || agent === kind;
}

/** By its text, or by the id that its text has; a second finding of the same name has a number after it. */
function isAbout({ id, file, title }: Finding, stored: StoredReviewIssue): boolean {
  if (file === stored.file && title === stored.title) return true;
  return id.replace(/-\d+$/, "") === findingId({ file: stored.file, title: stored.title, source: "review" });
}
