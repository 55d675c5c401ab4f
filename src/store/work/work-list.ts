import type { WorkItem, WorkItems } from "../../core/ports/work-items.js";
import { listProjects } from "../projects.js";
import { number, type Sql, type Value } from "../sql.js";
import { itemColumns, toItem } from "./work-rows.js";

type ListQuery = Parameters<WorkItems["list"]>[0];

/** A stretch of one index, in the order items were added. */
interface Range {
  readonly where: string;
  readonly params: readonly Value[];
}

/** In the order they were added: the heads of one index range per project and status, merged; then those rows alone. */
export async function listItems(sql: Sql, { projectId, statuses, limit }: ListQuery, now: number): Promise<WorkItem[]> {
  const projects = projectId === null ? (await listProjects(sql)).map(({ id }) => id) : [projectId];
  const ranges = projects.flatMap((project) => rangesOf(project, statuses, now));
  const wanted = await readHeads(sql, ranges, limit);
  const rows = await sql.all(
    `SELECT ${itemColumns} FROM work_items WHERE no IN (SELECT value FROM json_each(?)) ORDER BY no`,
    [JSON.stringify(wanted)],
  );
  // One that was changed between the two looks is no longer what was asked for.
  return rows.map((row) => toItem(row, now)).filter(({ status }) => statuses === null || statuses.includes(status));
}

/** The first numbers of all ranges together. A statement has room for some hundred ranges, a home for more projects. */
async function readHeads(sql: Sql, ranges: readonly Range[], limit: number): Promise<number[]> {
  const found: number[] = [];
  for (let from = 0; from < ranges.length; from += rangesAtOnce) {
    const some = ranges.slice(from, from + rangesAtOnce);
    const heads = some.map(
      ({ where }) => `SELECT * FROM (SELECT no FROM work_items WHERE ${where} ORDER BY no LIMIT ?)`,
    );
    const rows = await sql.all(`SELECT no FROM (${heads.join(" UNION ALL ")}) ORDER BY no LIMIT ?`, [
      ...some.flatMap(({ params }) => [...params, limit]),
      limit,
    ]);
    found.push(...rows.map((row) => number(row, "no")));
  }
  return [...new Set(found)].sort((one, other) => one - other).slice(0, limit);
}
const rangesAtOnce = 60;

/** A claim whose lease ran out is stored as claimed and reads as available. */
function rangesOf(project: string, statuses: ListQuery["statuses"], now: number): Range[] {
  if (statuses === null) return [{ where: "project_id = ?", params: [project] }];
  const [wantsFree, wantsClaimed] = [statuses.includes("available"), statuses.includes("claimed")];
  const stored = statuses
    .filter((status) => status !== "claimed")
    .map((status) => ({ where: "project_id = ? AND status = ?", params: [project, status] }));
  const claimed = { where: "project_id = ? AND status = 'claimed'", params: [project] };
  if (wantsFree && wantsClaimed) return [...stored, claimed];
  if (wantsFree) return [...stored, { where: `${claimed.where} AND lease_until <= ?`, params: [project, now] }];
  if (!wantsClaimed) return stored;
  const held = `${claimed.where} AND (lease_until IS NULL OR lease_until > ?)`;
  return [...stored, { where: held, params: [project, now] }];
}
