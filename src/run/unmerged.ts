import type { OnBranch } from "../core/not-ready.js";
import type { Epics, Issue, Tracker } from "../core/ports/tracker.js";
import type { Settings } from "../core/settings.js";
import { landedRef } from "../git/landing/tip.js";
import { isAncestor, type Mirror, readRefs } from "../git/mirror/mirror-refs.js";
import { givenRefs } from "../git/users-branch/given-branch.js";
import { exists } from "../lib/files.js";
import { issueNames } from "./context.js";

interface Place {
  readonly settings: Pick<Settings, "finalize">;
  readonly repoPath: string;
  readonly mirror: Pick<Mirror, "path">;
  readonly target: string;
}

/** Who tells what an issue is, and what is in an epic. */
export interface AskedForIssues extends Pick<Tracker, "get"> {
  readonly epics?: Pick<Epics, "children">;
}

/**
 * In `finalize.mode: branch` a completed issue's work is on `ratchet/<issue>` in the user's repository, and theirs to
 * merge. Whoever depends on it starts from the target, and an epic is verified there, so both wait until the target has
 * the branch, or the branch is gone: who deletes it has decided what becomes of it. Only git is asked, so it does not
 * matter who merged it, nor what the mode is by now. In mode `pr` a person may have fetched the branch of a pull request, and one that was squashed
 * would never be in the target: there only branches count that we have put into their repository.
 *
 * Of the issues that one depends on: those of an epic, and what that depends on, in the epic's place.
 */
export async function unmergedDeps(
  place: Place,
  tracker: AskedForIssues,
  deps: readonly string[],
): Promise<OnBranch[]> {
  const found: OnBranch[] = [];
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

/** The issues that these are; of an epic its own, and those that it depends on. */
async function tasksOf(tracker: AskedForIssues, deps: readonly string[]): Promise<ReadonlySet<string>> {
  const tasks = new Set<string>();
  const seen = new Set<string>();
  const visit = async (issue: Pick<Issue, "id" | "type" | "deps">): Promise<void> => {
    if (seen.has(issue.id)) return;
    seen.add(issue.id);
    if (issue.type === "task") {
      tasks.add(issue.id);
      return;
    }
    for (const child of (await tracker.epics?.children(issue.id)) ?? []) await visit(child);
    await visitAll(issue.deps);
  };
  const visitAll = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      const issue = seen.has(id) ? null : await tracker.get(id);
      if (issue !== null) await visit(issue);
    }
  };
  await visitAll(deps);
  return tasks;
}

/** The target is the user's branch, with what has landed besides and it does not show yet. */
async function isMerged({ repoPath, target }: Place, head: string): Promise<boolean> {
  const tips = await readRefs(repoPath, [`refs/heads/${target}`, landedRef(target)]);
  for (const tip of tips.values()) if (tip === head || (await isAncestor(repoPath, head, tip))) return true;
  return false;
}
