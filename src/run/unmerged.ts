import type { Issue, Tracker } from "../core/ports/tracker.js";
import type { Settings } from "../core/settings.js";
import { isAncestor, readRefs } from "../git/mirror-refs.js";
import { landedRef } from "../git/tip.js";
import { issueNames } from "./context.js";

/**
 * In `finalize.mode: branch` a completed issue's work is on `ratchet/<issue>` in the user's repository, and theirs to
 * merge. Whoever depends on it starts from the target, so it waits until the target has the branch, or the branch is
 * gone: who deletes it has decided what becomes of it. Only git is asked, so it does not matter who merged it, nor
 * whether `merge` is set by now. In mode `pr` it is not asked: there an issue is completed by its merge, and the branch of
 * one that was squashed would never be in the target.
 */
export interface Unmerged {
  readonly id: string;
  readonly branch: string;
}

interface Place {
  readonly settings: Settings;
  readonly repoPath: string;
  readonly target: string;
}

/** Of the issues that one depends on, those of an epic in the epic's place. */
export async function unmergedDeps(place: Place, tracker: Tracker, deps: readonly string[]): Promise<Unmerged[]> {
  const found: Unmerged[] = [];
  if (!mayHaveBranches(place.settings, deps)) return found;
  for (const id of await tasksOf(tracker, deps)) {
    const { branch } = issueNames(id);
    if (await isUnmerged(place, branch)) found.push({ id, branch });
  }
  return found;
}

/** Whether there is anything to ask git for. */
export function mayHaveBranches(settings: Settings, deps: readonly string[]): boolean {
  return waitsForMerges(settings) && deps.length > 0;
}

/** Whether an issue may become ready by what a person merges, which nobody tells. */
export function waitsForMerges({ finalize }: Pick<Settings, "finalize">): boolean {
  return finalize.mode !== "pr";
}

async function tasksOf(tracker: Tracker, deps: readonly string[]): Promise<ReadonlySet<string>> {
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
async function isUnmerged({ repoPath, target }: Place, branch: string): Promise<boolean> {
  const [own, theirs, landed] = [`refs/heads/${branch}`, `refs/heads/${target}`, landedRef(target)];
  const refs = await readRefs(repoPath, [own, theirs, landed]);
  const head = refs.get(own);
  if (head === undefined) return false;
  for (const ref of [theirs, landed]) {
    const tip = refs.get(ref);
    if (tip !== undefined && (tip === head || (await isAncestor(repoPath, head, tip)))) return false;
  }
  return true;
}
