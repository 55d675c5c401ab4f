import type { Finding } from "../core/finding.js";
import { type Close, closeFinding } from "../core/ledger/entry.js";
import { Refusal } from "../lib/errors.js";
import { findingColumns, findingStatements, toFinding } from "./finding-rows.js";
import type { Sql } from "./sql.js";

export interface FindingsQuery {
  readonly projectId: string;
  readonly issueId?: string;
  /** Every status; otherwise open ones only. */
  readonly all: boolean;
}

/** In the order first raised. */
export async function readFindings(sql: Sql, { projectId, issueId, all }: FindingsQuery): Promise<Finding[]> {
  const where = [
    ...(issueId === undefined ? [] : ["issue_id = ?"]),
    ...(all ? [] : ["no IN (SELECT finding FROM open_findings WHERE project_id = ?)"]),
  ];
  const rows = await sql.all(
    `SELECT ${findingColumns} WHERE ${["project_id = ?", ...where].join(" AND ")} ORDER BY no`,
    [projectId, ...(issueId === undefined ? [] : [issueId]), ...(all ? [] : [projectId])],
  );
  return rows.map(toFinding);
}

export interface FindingName {
  readonly projectId: string;
  /** A beginning of it that fits no other, with or without the `…` that a narrow table ends it in. */
  readonly id: string;
  readonly issueId?: string;
}

/**
 * A finding's id says what is wrong and where: two issues whose tests fail alike have findings with the same id. Of
 * these the one that is open is meant; where several are, the issue has to be named.
 */
export async function findFinding(sql: Sql, { projectId, id: given, issueId }: FindingName): Promise<Finding> {
  const prefix = given.replace(/…$/, "");
  const rows = await sql.all(
    `SELECT ${findingColumns} WHERE project_id = ? AND substr(id, 1, ?) = ? ${issueId === undefined ? "" : "AND issue_id = ?"} ORDER BY no`,
    [projectId, prefix.length, prefix, ...(issueId === undefined ? [] : [issueId])],
  );
  // Nothing is the beginning of everything, and means none of it.
  const fitting = prefix === "" ? [] : rows.map(toFinding);
  const exact = fitting.filter(({ id }) => id === prefix);
  const found = exact.length > 0 ? exact : fitting;
  const [first] = found;
  if (first === undefined) {
    const where = issueId === undefined ? "" : ` of ${issueId}`;
    throw new Refusal(`no finding ${given || '""'}${where}`, { code: "not-found", hint: "ratchet findings --all" });
  }
  if (found.some(({ id }) => id !== first.id)) {
    throw new Refusal(`${given} fits more than one finding`, { code: "ambiguous", hint: "give more of the id" });
  }
  const open = found.filter(({ status }) => status === "open");
  if (open.length < 2) return open[0] ?? first;
  const issues = open.map((one) => one.issue_id);
  throw new Refusal(`finding ${first.id} is open in ${issues.join(", ")}`, {
    code: "ambiguous",
    hint: `say in which: --issue ${issues[0]}`,
  });
}

export interface DirectWaiver extends FindingName {
  readonly reason: string;
  /** By Ratchet itself, not by a person. */
  readonly letGo?: boolean;
}

/** For an issue that nobody drives; a driven one gets a `waive` signal instead. */
export async function waiveDirect(sql: Sql, waived: DirectWaiver & { readonly now: number }): Promise<Finding> {
  const finding = await findFinding(sql, waived);
  if (finding.status !== "open") throw new Refusal(`finding ${finding.id} is ${finding.status}, not open`);
  const { projectId, reason, letGo = false, now: at } = waived;
  return await closeDirect(sql, { projectId, finding, close: { status: "waived", reason, at, commit: null, letGo } });
}

export interface DirectClose {
  readonly projectId: string;
  readonly finding: Finding;
  readonly close: Close;
}

export async function closeDirect(sql: Sql, { projectId, finding, close }: DirectClose): Promise<Finding> {
  const closed = closeFinding(finding, close);
  await sql.batch(findingStatements(projectId, closed));
  return closed;
}
