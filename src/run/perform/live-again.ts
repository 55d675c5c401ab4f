import { readdir } from "node:fs/promises";
import type { Issue } from "../../core/ports/tracker.js";
import type { IssueRecord } from "../../core/record.js";
import { exists } from "../../lib/files.js";
import type { RunContext } from "../context.js";

/** Once in a run, unless it was made available again after a life that did not succeed: that is somebody's word. */
export function mayLiveAgain(issue: Issue, last: Pick<IssueRecord, "status" | "started_at"> | null): boolean {
  if (last === null) return true;
  if (last.status !== "failed" && last.status !== "escalated") return false;
  return issue.status === "available" && (issue.changedAt ?? 0) > Date.parse(last.started_at);
}

/** Its attempts are numbered on: no folder is used twice. */
export async function secondLife({ home, runId }: RunContext, issueId: string) {
  const folder = home.attempt(runId, issueId, "");
  const names = (await exists(folder)) ? await readdir(folder) : [];
  return { again: true, folders: Math.max(0, ...names.map((name) => Number.parseInt(name, 10) || 0)) };
}
