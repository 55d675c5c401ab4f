import { followUpsName } from "./inbox.js";
import { Refused, type Sql, type Statement } from "./sql.js";
import { readStream, stepId } from "./steps.js";

/**
 * Takes a run that is over out of the database: its journal, events, signals and records, in one transaction. Findings
 * and work items are the issues' and stay. False: it is not over, or not there.
 */
export async function deleteRun(sql: Sql, runId: string): Promise<boolean> {
  const stream = await readStream(sql, runId);
  const isOver: Statement = {
    sql: `UPDATE runs SET status = status WHERE run_id = ? AND status <> 'running' AND NOT EXISTS (
      SELECT 1 FROM machines JOIN streams ON streams.no = machines.stream WHERE streams.run_id = ? AND machines.done = 0)`,
    params: [runId, runId],
    expect: 1,
  };
  try {
    await sql.batch([
      isOver,
      ...(stream === null ? [] : journalOf(stream)),
      { sql: "DELETE FROM inbox WHERE machine = ?", params: [followUpsName(runId)] },
      { sql: "DELETE FROM issue_records WHERE run_id = ?", params: [runId] },
      { sql: "DELETE FROM runs WHERE run_id = ?", params: [runId] },
    ]);
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

function journalOf(stream: number): Statement[] {
  return [
    { sql: "DELETE FROM steps WHERE id > ? AND id < ?", params: [stepId(stream, 0), stepId(stream + 1, 0)] },
    { sql: "DELETE FROM inbox WHERE machine IN (SELECT id FROM machines WHERE stream = ?)", params: [stream] },
    { sql: "DELETE FROM states WHERE machine IN (SELECT no FROM machines WHERE stream = ?)", params: [stream] },
    { sql: "DELETE FROM machines WHERE stream = ?", params: [stream] },
    { sql: "DELETE FROM streams WHERE no = ?", params: [stream] },
  ];
}
