import type { Issue, Tracker } from "../core/ports/tracker.js";
import type { Settings } from "../core/settings.js";
import { givenRefs } from "../git/follow.js";
import { isAncestor, type Mirror, readRefs } from "../git/mirror-refs.js";
import { landedRef } from "../git/tip.js";
import { exists } from "../lib/files.js";
import { issueNames } from "./context.js";

/**
 * In `finalize.mode: branch` a completed issue's work is on `ratchet/<issue>` in the user's repository, and theirs to
 * merge. Whoever depends on it starts from the target, so it waits until the target has the branch, or the branch is
 * gone: who deletes it has decided what becomes of it. Only git is asked, so it does not matter who merged it, nor
 * what the mode is by now. In mode `pr` a person may have fetched the branch of a pull request, and one that was squashed
 * would never be in the target: there only branches count that we have put into their repository.
 */
export interface Unmerged {
  readonly id: string;
  readonly branch: string;
}

interface Place {
  readonly settings: Pick<Settings, "finalize">;
  readonly repoPath: string;
  readonly mirror: Pick<Mirror, "path">;
  readonly target: string;
}

/** Who tells what an issue is, and what is in an epic. */
export type AskedForIssues = Pick<Tracker, "get" | "epics">;

/** Of the issues that one depends on, those of an epic in the epic's place. */
export async function unmergedDeps(
  place: Place,
  tracker: AskedForIssues,
  deps: readonly string[],
): Promise<Unmerged[]> {
  const found: Unmerged[] = [];
  if (deps.length === 0) return found;
  const heads = await branchesIn(place);
  // Hardly anybody has such branches, and some trackers start a program for each question.
  if (heads.size === 0) return found;
  for (const id of await tasksOf(tracker, deps)) {
    const { branch } = issueNames(id);
    const head = heads.get(`refs/heads/${branch}`);
    if (head !== undefined && !(await isMerged(place, head))) found.push({ id, branch });
  }
  return found;
}

/** What a merge changes, and nobody tells; null: no issue may become ready by one. */
export async function seeMerges(place: Place): Promise<string | null> {
  if ((await branchesIn(place)).size === 0) return null;
  const { repoPath, target } = place;
  const refs = await readRefs(repoPath, [branches, `refs/heads/${target}`, landedRef(target)]);
  return JSON.stringify([...refs].sort());
}

const branches = "refs/heads/ratchet";

async function branchesIn({ settings, repoPath, mirror }: Omit<Place, "target">): Promise<ReadonlyMap<string, string>> {
  const heads = await readRefs(repoPath, [branches]);
  if (settings.finalize.mode !== "pr" || heads.size === 0) return heads;
  const given = (await exists(mirror.path)) ? await readRefs(mirror.path, [givenRefs]) : new Map<string, string>();
  return new Map([...heads].filter(([ref]) => given.has(ref.replace("refs/heads", givenRefs))));
}

/** The issues that these are, those of an epic in the epic's place. */
export async function tasksOf(tracker: AskedForIssues, deps: readonly string[]): Promise<ReadonlySet<string>> {
  const tasks = new Set<string>();
  const seen = new Set<string>();
  const visit = async (issue: Pick<Issue, "id" | "type">): Promise<void> => {
    if (seen.has(issue.id)) return;
    seen.add(issue.id);
    if (issue.type === "task") tasks.add(issue.id);
    else for (const child of (await tracker.epics?.children(issue.id)) ?? []) await visit(child);
  };
  for (const id of deps) {
    const issue = await tracker.get(id);
    if (issue !== null) await visit(issue);
  }
  return tasks;
}

/** The target is the user's branch, with what has landed besides and it does not show yet. */
async function isMerged({ repoPath, target }: Place, head: string): Promise<boolean> {
  const tips = await readRefs(repoPath, [`refs/heads/${target}`, landedRef(target)]);
  for (const tip of tips.values()) if (tip === head || (await isAncestor(repoPath, head, tip))) return true;
  return false;
}
