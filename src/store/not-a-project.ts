import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../lib/errors.js";
import type { Home } from "../lib/home.js";
import { shellWord } from "../lib/quoted.js";
import { listProjects, type Project, projectAt } from "./projects.js";
import type { Sql } from "./sql.js";

/**
 * The project at a path. An issue's worktree is a checkout, too, but never a project: it would have a board of its own. Nor
 * does it stand for its repository, or an agent's `ratchet land` would reach that.
 */
export async function projectOutsideOfWorktrees(sql: Sql, home: Home, repoPath: string): Promise<Project | null> {
  const known = await projectAt(sql, repoPath);
  if (known !== null || !isWorktree(home, repoPath)) return known;
  const folder = basename(dirname(repoPath));
  const owner = (await listProjects(sql)).find(({ id }) => basename(dirname(home.worktree(id, "_"))) === folder);
  if (owner === undefined) throw new UserError(`${repoPath} is a worktree of Ratchet's own`, { code: "worktree" });
  throw new UserError(`this is the worktree of ${basename(repoPath)} of ${owner.repoPath}`, {
    hint: `change to the repository: cd ${shellWord(owner.repoPath)}`,
    code: "worktree",
  });
}

function isWorktree(home: Home, path: string): boolean {
  const all = dirname(dirname(path));
  // The state home may be behind a link, which git's paths never are.
  return basename(all) === "worktrees" && all === join(realpathSync(home.root), "worktrees");
}
