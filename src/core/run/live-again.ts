import type { Issue } from "../ports/tracker.js";
import type { IssueRecord } from "../record.js";

/** How a run has recorded an issue. */
export type LastLife = Pick<IssueRecord, "status" | "started_at">;

/**
 * Once in a run, unless it was made available again after a life that did not succeed: that is somebody's word. A life
 * that was stopped leaves its issue available, so there the word must be an explicit retry.
 */
export async function mayLiveAgain(
  issue: Pick<Issue, "status" | "changedAt">,
  last: LastLife | null,
  isRetried: () => Promise<boolean>,
): Promise<boolean> {
  if (last === null) return true;
  if (issue.status !== "available") return false;
  if (last.status === "interrupted") return await isRetried();
  if (last.status !== "failed" && last.status !== "escalated") return false;
  return (issue.changedAt ?? 0) > Date.parse(last.started_at);
}
