import { readdir } from "node:fs/promises";
import type { Issue } from "../../core/ports/tracker.js";
import type { IssueRecord } from "../../core/record.js";
import { exists } from "../../lib/files.js";
import type { RunContext } from "../context.js";

type LastLife = Pick<IssueRecord, "status" | "started_at">;

/**
 * Once in a run, unless it was made available again after a life that did not succeed: that is somebody's word. A life
 * that was stopped leaves its issue available, so there the word must be an explicit retry.
 */
export async function mayLiveAgain(
  issue: Issue,
  last: LastLife | null,
  isRetried: () => Promise<boolean>,
): Promise<boolean> {
  if (last === null) return true;
  if (issue.status !== "available") return false;
  if (last.status === "interrupted") return await isRetried();
  if (last.status !== "failed" && last.status !== "escalated") return false;
  return (issue.changedAt ?? 0) > Date.parse(last.started_at);
}

/**
 * What somebody stopped by its name is left alone by the runs that were there then, and so is what failed in one of them:
 * a resume is about earlier runs. One that nobody has begun needs no asking.
 */
export async function isHeldBack(
  { board, history, projectId, runId }: Pick<RunContext, "board" | "history" | "projectId" | "runId">,
  { id, begun, status }: Pick<Issue, "id" | "begun" | "status">,
): Promise<boolean> {
  if (begun === false) return false;
  if (status === "failed" && (await history.endedElsewhere(id))) return true;
  return await board.isStopped(projectId, id, runId);
}

/** Its attempts are numbered on: no folder is used twice. `last`: how this run has recorded it; null: it is the first. */
export async function secondLife({ home, runId }: RunContext, issueId: string, last: LastLife | null) {
  if (last === null) return {};
  const folder = home.attempt(runId, issueId, "");
  const names = (await exists(folder)) ? await readdir(folder) : [];
  const folders = Math.max(0, ...names.map((name) => Number.parseInt(name, 10) || 0));
  return { again: true, folders, ...(last.status === "interrupted" ? { stopped: true } : {}) };
}
