import { readdir } from "node:fs/promises";
import type { Issue } from "../../core/ports/tracker.js";
import type { LastLife } from "../../core/run/live-again.js";
import { exists } from "../../lib/files.js";
import type { RunContext } from "../context.js";

/**
 * What another run is in the middle of is that run's, whatever the tracker says. What somebody stopped by its name is left
 * alone by the runs that were there then, and so is what failed in one of them: a resume is about earlier runs. One that
 * nobody has begun needs no asking.
 */
export async function isHeldBack(
  { board, history, projectId, runId }: Pick<RunContext, "board" | "history" | "projectId" | "runId">,
  { id, begun, status }: Pick<Issue, "id" | "begun" | "status">,
): Promise<boolean> {
  if (begun === false) return false;
  if (status === "failed" && (await history.endedElsewhere(id))) return true;
  if (await history.livedElsewhere(id)) return true;
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
