import { basename } from "node:path";
import { Bug } from "../lib/errors.js";
import { number, Refused, type Row, type Sql, text } from "./sql.js";

export interface Project {
  readonly id: string;
  readonly repoPath: string;
}

/**
 * The repository's project, made on first use: its folder's name, told apart by -2, -3, … when another has it. One that
 * was removed comes back with all it had: its id names folders on disk, and is never given to another repository.
 */
export async function registerProject(sql: Sql, repoPath: string, now: number): Promise<Project> {
  const name =
    basename(repoPath)
      .replace(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 48) || "project";
  for (let number = 1; ; number++) {
    const known = await projectAt(sql, repoPath);
    if (known !== null) return known;
    if (await bringBack(sql, repoPath)) continue;
    const id = number === 1 ? name : `${name}-${number}`;
    try {
      await sql.batch([{ sql: insertProject, params: [id, repoPath, now], expect: 1 }]);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (number > 10_000) throw new Bug(`no free project id for ${repoPath}`);
    }
  }
}
const insertProject = "INSERT INTO projects (id, repo_path, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";

async function bringBack(sql: Sql, repoPath: string): Promise<boolean> {
  const [removed] = await sql.all("SELECT id FROM projects WHERE repo_path = ?", [repoPath]);
  if (removed === undefined) return false;
  await sql.batch([{ sql: "UPDATE projects SET removed_at = NULL WHERE repo_path = ?", params: [repoPath] }]);
  return true;
}

export async function projectAt(sql: Sql, repoPath: string): Promise<Project | null> {
  const [row] = await sql.all("SELECT id, repo_path FROM projects WHERE repo_path = ? AND removed_at IS NULL", [
    repoPath,
  ]);
  return row === undefined ? null : toProject(row);
}

export async function listProjects(sql: Sql, which?: "removed too"): Promise<Project[]> {
  const condition = which === undefined ? "WHERE removed_at IS NULL" : "";
  return (await sql.all(`SELECT id, repo_path FROM projects ${condition} ORDER BY id`, [])).map(toProject);
}

/** How many items of a project are not completed, counted no further than `most`. */
export async function countOpenItems(sql: Sql, projectId: string, most: number): Promise<number> {
  const statuses = ["available", "claimed", "blocked", "waiting_for_response", "failed", "quarantined"];
  const [row] = await sql.all(
    `SELECT count(*) AS open FROM (SELECT 1 FROM work_items
      WHERE project_id = ? AND status IN (${statuses.map(() => "?").join(", ")}) LIMIT ?)`,
    [projectId, ...statuses, most],
  );
  return row === undefined ? 0 : number(row, "open");
}

/** It is no longer shown or worked on. Nothing of it is deleted. False: there is no such project. */
export async function removeProject(sql: Sql, projectId: string, now: number): Promise<boolean> {
  const [rows] = await sql.batch([
    {
      sql: "UPDATE projects SET removed_at = ? WHERE id = ? AND removed_at IS NULL RETURNING id",
      params: [now, projectId],
    },
  ]);
  return rows?.length === 1;
}

/**
 * A path has one project and an id stays taken, so whatever is at the new path gets the old one, removed: should there be
 * a repository again, that one's. False: the project is not where it was said to be.
 */
export async function moveProject(
  sql: Sql,
  { id, repoPath: from }: Project,
  { repoPath: to, now }: { readonly repoPath: string; readonly now: number },
): Promise<boolean> {
  const between = `moved from ${to}`;
  const put = "UPDATE projects SET repo_path = ? WHERE repo_path = ?";
  try {
    await sql.batch([
      { sql: "UPDATE projects SET removed_at = ? WHERE repo_path = ?", params: [now, to] },
      { sql: put, params: [between, to] },
      {
        sql: "UPDATE projects SET repo_path = ? WHERE id = ? AND repo_path = ? AND removed_at IS NULL",
        params: [to, id, from],
        expect: 1,
      },
      { sql: put, params: [from, between] },
    ]);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return false;
  }
}

function toProject(row: Row): Project {
  return { id: text(row, "id"), repoPath: text(row, "repo_path") };
}
