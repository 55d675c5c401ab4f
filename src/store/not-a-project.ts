import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { UserError } from "../lib/errors.js";
import { readJson } from "../lib/files.js";
import type { Home } from "../lib/home.js";
import { shellWord } from "../lib/quoted.js";
import { type WorktreePlace, worktreeAround } from "../lib/worktree-around.js";
import { listProjects, type Project, projectAt } from "./projects.js";
import type { Sql } from "./sql.js";

/**
 * The project at a path. An issue's worktree is a checkout, too, but never a project, of whatever state home it is: it would
 * have a board of its own. Nor does it stand for its repository, or an agent's `ratchet land` would reach that.
 */
export async function projectOutsideOfWorktrees(sql: Sql, home: Home, repoPath: string): Promise<Project | null> {
  const worktree = worktreeAround(repoPath);
  if (worktree === null) return await projectAt(sql, repoPath);
  // It may be behind a link, which git's paths never are; where there is none nothing is in it.
  const own = existsSync(home.root) ? realpathSync(home.root) : home.root;
  // Whoever has a state home in there tries Ratchet out.
  if (own.startsWith(`${worktree.path}${sep}`)) return await projectAt(sql, repoPath);
  // The user's own, in a folder of that name.
  const project = own === worktree.root ? await projectAt(sql, repoPath) : null;
  if (project !== null) return project;
  throw own === worktree.root ? await ofOurs(sql, home, worktree) : await ofOthers(worktree);
}

async function ofOurs(sql: Sql, home: Home, { path, name }: WorktreePlace): Promise<UserError> {
  const folder = basename(dirname(path));
  const owner = (await listProjects(sql)).find(({ id }) => basename(dirname(home.worktree(id, "_"))) === folder);
  if (owner === undefined) return new UserError(`${path} is a worktree of Ratchet's own`, { code: "worktree" });
  return new UserError(`this is the worktree of ${name} of ${owner.repoPath}`, {
    hint: `change to the repository: cd ${shellWord(owner.repoPath)}`,
    code: "worktree",
  });
}

/** Its checkouts have a note beside them that names the repository. */
async function ofOthers({ path, name, root }: WorktreePlace): Promise<UserError> {
  const note = await readJson(join(dirname(path), ".checkouts", "mirror.json"));
  const repoPath = typeof note === "object" && note !== null && "repoPath" in note ? String(note.repoPath) : null;
  const whose = repoPath === null ? "" : ` of ${repoPath}`;
  return new UserError(`this is the worktree of ${name}${whose}, in the state home ${root}`, {
    ...(repoPath === null ? {} : { hint: `change to the repository: cd ${shellWord(repoPath)}` }),
    code: "worktree",
  });
}
