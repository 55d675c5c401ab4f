import type { IssueState, Phase } from "../core/issue/state.js";
import { columns, toView } from "./machines.js";
import type { Sql } from "./sql.js";

/**
 * A life of an issue that has not ended, in a run that has not: it is that run's, whatever the board says, and whether
 * somebody drives it now or its process is gone. Nobody else begins a life of the issue, gives it away or writes its ledger.
 */
export interface UnfinishedLife {
  readonly runId: string;
  readonly machine: string;
  readonly issueId: string;
  readonly phase: Phase;
  readonly driverAlive: boolean;
}

/** In the order they began: of a project, or of one without the lives of one run. */
export async function readUnfinishedLives(sql: Sql, projectId: string, besides: string): Promise<UnfinishedLife[]> {
  const rows = await sql.all(
    `${columns} WHERE machines.done = 0 AND machines.kind = 'issue'
      AND EXISTS (SELECT 1 FROM runs WHERE runs.run_id = streams.run_id AND project_id = ? AND run_id <> ?)
      AND EXISTS (SELECT 1 FROM machines AS whole WHERE whole.stream = machines.stream AND whole.kind = 'run' AND whole.done = 0)
      ORDER BY machines.no`,
    [projectId, besides],
  );
  return rows.map(toView).flatMap(({ id: machine, runId, driverAlive, state }) => {
    const { issueId, phase } = state as IssueState;
    // A trigger's life is of no issue.
    return issueId === "" ? [] : [{ runId, machine, issueId, phase, driverAlive }];
  });
}

/** It is claimed, and how it ends is not decided: its agents may be at work in the issue's worktree. */
export function isAtWork({ phase }: UnfinishedLife): boolean {
  return phase !== "claiming" && phase !== "closing" && phase !== "done";
}
