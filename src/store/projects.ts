import { basename } from "node:path";
import { Bug } from "../lib/errors.js";
import { Refused, type Row, type Sql, text } from "./sql.js";

export interface Project {
  readonly id: string;
  readonly repoPath: string;
}

/** The repository's project, made on first use: its folder's name, told apart by -2, -3, … when another has it. */
export async function registerProject(sql: Sql, repoPath: string, now: number): Promise<Project> {
  const name =
    basename(repoPath)
      .replace(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 48) || "project";
  for (let number = 1; ; number++) {
    const known = await projectAt(sql, repoPath);
    if (known !== null) return known;
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

export async function projectAt(sql: Sql, repoPath: string): Promise<Project | null> {
  const [row] = await sql.all("SELECT id, repo_path FROM projects WHERE repo_path = ?", [repoPath]);
  return row === undefined ? null : toProject(row);
}

export async function listProjects(sql: Sql): Promise<Project[]> {
  return (await sql.all("SELECT id, repo_path FROM projects ORDER BY id", [])).map(toProject);
}

function toProject(row: Row): Project {
  return { id: text(row, "id"), repoPath: text(row, "repo_path") };
}
