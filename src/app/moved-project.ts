import { basename, dirname } from "node:path";
import { sharesHistory } from "../git/mirror/shared-history.js";
import { commonDirOf } from "../git/repository.js";
import { exists } from "../lib/files.js";
import type { Home } from "../lib/home.js";
import { shellWord } from "../lib/quoted.js";
import type { Project, Store } from "../store/store.js";

const mostCounted = 1000;

/**
 * The repository's project, made on first use. A folder that was renamed or moved is a repository nobody knows, and its
 * board would seem lost. That it is the same one is not certain (another clone, a disk that is not mounted), so nothing
 * is taken over unasked: it is told, and how to do it.
 */
export async function registerTelling(store: Store, root: string, warn: (text: string) => void): Promise<Project> {
  const known = await store.projectAt(root);
  if (known !== null) return known;
  const made = await store.registerProject(root);
  await tellSibling(store, { root, made }, warn);
  for (const { id, repoPath } of await store.projects()) {
    const isLike = basename(repoPath) === basename(root) || dirname(repoPath) === dirname(root);
    if (id === made.id || !isLike || (await exists(repoPath))) continue;
    const open = await store.openItems(id, mostCounted);
    if (open === 0) continue;
    const waiting = open === 1 ? "1 issue waits" : `${open === mostCounted ? "many" : open} issues wait`;
    warn(`project ${id} was at ${repoPath}, which is gone: ${waiting} there`);
    warn(`if ${root} is it: ratchet project move ${shellWord(id)}`);
  }
  return made;
}

/** A linked worktree is a repository of its own here: whoever looks for the other's issues in it finds none. */
async function tellSibling(
  store: Store,
  { root, made }: { readonly root: string; readonly made: Project },
  warn: (text: string) => void,
): Promise<void> {
  const main = dirname(await commonDirOf(root));
  const sibling = main === root ? null : await store.projectAt(main);
  if (sibling === null) return;
  warn(`${root} is a worktree of ${main}: a project of its own, ${made.id}, with a board of its own`);
  warn(`the issues of ${sibling.id}: ratchet work list --project ${shellWord(sibling.id)}`);
}

/** Whether a repository may be the project's: it has a commit that the project's had. One that never ran may be any. */
export async function mayBeRepositoryOf(home: Home, projectId: string, root: string): Promise<boolean> {
  const mirror = home.mirror(projectId);
  return !(await exists(mirror)) || (await sharesHistory(root, mirror));
}
