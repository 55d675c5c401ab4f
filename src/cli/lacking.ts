import type { App } from "../app.js";
import type { IssueRecord } from "../core/record.js";
import { type LackingFacts, mayBeMended } from "../views/lacking.js";
import { renderSummary, type Summary } from "../views/summary.js";

interface Failed extends Pick<IssueRecord, "error"> {
  readonly status: string;
  readonly worktree: string | null;
}

/** What its user has committed to the target since it failed, looked at now; null: nothing, or it failed otherwise. */
export async function lackingOf(
  app: App,
  failed: Failed,
  where: { readonly repoPath: string; readonly target: string },
): Promise<LackingFacts | null> {
  const { worktree } = failed;
  if (worktree === null || !mayBeMended(failed)) return null;
  const found = await app.lacking(worktree, where);
  return found && { ...found, worktree, target: where.target };
}

/** A night in which everything failed is not looked through issue by issue. */
const askedAtMost = 20;

export async function summaryLines(app: App, summary: Summary): Promise<string[]> {
  const lacking: Record<string, LackingFacts> = {};
  const { repoPath, target } = summary;
  if (repoPath === null || target === null) return renderSummary(summary);
  for (const [id, issue] of Object.entries(summary.issues)
    .filter(([, one]) => mayBeMended(one))
    .slice(0, askedAtMost)) {
    const found = await lackingOf(app, issue, { repoPath, target });
    if (found !== null) lacking[id] = found;
  }
  return renderSummary(summary, lacking);
}
