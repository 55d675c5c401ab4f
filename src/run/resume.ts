import type { Finding, Ledger } from "../core/finding.js";
import { findingId, openFindings } from "../core/ledger/ledger.js";
import type { IssueRecord, StoredReviewIssue } from "../core/record.js";
import type { ResumeFrom } from "../core/run/effects.js";
import type { AgentKind } from "../core/settings.js";

/** What an earlier life's record gives a new one. Findings that were waived or resolved since are not replayed. */
export function resumeFrom(
  last: { readonly runId: string; readonly record: IssueRecord },
  ledger: Ledger,
  agent: { readonly type: AgentKind; readonly workflow: string | null },
): ResumeFrom {
  const { record } = last;
  const open = openFindings(ledger, { sources: ["review"] });
  const replayed = new Set((record.last_review_issues ?? []).flatMap((stored) => findStored(open, stored)));
  return {
    runId: last.runId,
    ...sessionFor(record, agent),
    blocking: open.filter((finding) => replayed.has(finding)).map(({ id }) => id),
    // What succeeded has landed: what comes after it starts from there.
    baseSha: record.status === "success" ? null : (record.base_sha ?? null),
    seen: record.status === "success" ? null : (record.seen ?? null),
    ...(record.status === "success" ? {} : basesOf(record)),
    ...(record.undelivered ? { deliver: { ...record.undelivered, evidence: record.evidence_check.evidence } } : {}),
  };
}

function basesOf({ review_base, unmerged }: IssueRecord): Pick<ResumeFrom, "reviewBase" | "unmerged"> {
  return { ...(review_base ? { reviewBase: review_base } : {}), ...(unmerged ? { unmerged } : {}) };
}

/** What a workflow in place of a session leaves to go on with: its machine. */
export const workflowSession = "workflow:";

/** Another program does not know the session of the one before. Where a record does not say whose it is, it is tried. */
function sessionFor(
  { agent = "", session_id = null }: Partial<IssueRecord>,
  now: { readonly type: AgentKind; readonly workflow: string | null },
): Pick<ResumeFrom, "sessionId" | "sessionOf"> {
  if (session_id === null) return { sessionId: null };
  const byWorkflow = session_id.startsWith(workflowSession);
  if (byWorkflow === (now.workflow !== null) && (agent === "" || agent === now.type)) return { sessionId: session_id };
  return { sessionId: null, sessionOf: byWorkflow ? "a workflow" : agent || "another agent" };
}

/** The surest first, so that another finding of the same name is not taken for the one that is stored. */
function findStored(open: readonly Finding[], stored: StoredReviewIssue): readonly Finding[] {
  const { file, title, line_start, line_end, priority } = stored;
  const named = open.filter((one) => one.file === file && one.title === title);
  const placed = named.filter((one) => one.line_start === line_start && one.line_end === line_end);
  const same = placed.filter((one) => one.priority === priority);
  const id = findingId({ file, title, source: "review" });
  const family = open.filter((one) => one.id.replace(/-\d+$/, "") === id);
  return [same, placed, named, family].find((some) => some.length > 0) ?? [];
}
