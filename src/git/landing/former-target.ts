import { gitText } from "../git.js";
import {
  fetchFromUser,
  fetchIntoUser,
  hasCommit,
  type Mirror,
  type RefChange,
  readRefs,
  updateRefs,
} from "../mirror/mirror-refs.js";
import { landedRef, landedRefs, unmarkGiven } from "./tip.js";
import { withdrawnRef } from "./withdrawn.js";

/**
 * Git has no branch `feat` beside a branch `feat/x`, and no refs that are named after both. So what is left of a branch
 * that is gone is put out of the way before the other one is worked on: its landed line goes where no name is in the way,
 * and how far it was seen, followed and reviewed is forgotten.
 */
export const formerRefs = "refs/ratchet/former";

function formerRef(target: string, commit: string): string {
  return `${formerRefs}/${encodeURIComponent(target)}/${commit}`;
}

/** The branch that the landed line at this name, below `formerRefs`, was of. */
export function formerTargetOf(name: string): string {
  return decodeURIComponent(name.slice(0, name.indexOf("/")));
}

/** One of these, and the other could not be. */
export function areInEachOthersWay(one: string, other: string): boolean {
  return one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** What has to be told of it, a line for each branch that is gone. */
export async function clearTheWay(mirror: Mirror, target: string): Promise<readonly string[]> {
  const [ours, theirs] = await Promise.all([
    leftIn(mirror.path, { folders: ownFolders, target }),
    leftIn(mirror.repoPath, { folders: [landedRefs], target }),
  ]);
  const lines: string[] = [];
  for (const name of new Set([...ours, ...theirs].map((left) => left.name))) {
    const branch = `refs/heads/${name}`;
    if ((await readRefs(mirror.repoPath, [branch])).has(branch)) continue;
    const of = (all: readonly Left[]) => all.filter((left) => left.name === name);
    const unmerged = await putAside(mirror, name, { ours: of(ours), theirs: of(theirs) });
    lines.push(`the branch ${name} is gone, and ${target} takes its place${kept(unmerged)}`);
  }
  return lines;
}

function kept(unmerged: readonly string[]): string {
  const ways = unmerged.map((end) => `\`git branch NAME ${end.slice(0, 12)}\``);
  return ways.length === 0 ? "" : `: what landed on it is on no branch of yours, run ${ways.join(" and ")} to have it`;
}

interface Left {
  readonly ref: string;
  readonly commit: string;
  /** The branch that it is named after. */
  readonly name: string;
}

const ownFolders = [landedRefs, "refs/ratchet/followed", "refs/ratchet/seen", "refs/ratchet/reviewed"];
const namedAfter = /^refs\/ratchet\/(?:reviewed\/[^/]+|[^/]+)\/(.+)$/;

async function leftIn(
  cwd: string,
  { folders, target }: { readonly folders: readonly string[]; readonly target: string },
): Promise<readonly Left[]> {
  return [...(await readRefs(cwd, folders))]
    .map(([ref, commit]) => ({ ref, commit, name: namedAfter.exec(ref)?.[1] ?? "" }))
    .filter(({ name }) => name !== "" && areInEachOthersWay(name, target));
}

/** The ends of its landed line that no branch of the user's has; their repository keeps them, too. */
async function putAside(
  mirror: Mirror,
  name: string,
  { ours, theirs }: { readonly ours: readonly Left[]; readonly theirs: readonly Left[] },
): Promise<readonly string[]> {
  for (const { ref, commit } of theirs)
    if (!(await hasCommit(mirror.path, commit))) await fetchFromUser(mirror, [`+${ref}:${formerRef(name, commit)}`]);
  const isLine = ({ ref }: Left) => ref === landedRef(name);
  const ends = [...new Set([...ours, ...theirs].filter(isLine).map(({ commit }) => commit))];
  await updateRefs(
    mirror.path,
    ends.map((end) => ({ ref: formerRef(name, end), to: end })),
  );
  const unmerged = await withoutBranch(mirror, ends);
  const copies = unmerged.map((end) => `+${formerRef(name, end)}:${formerRef(name, end)}`);
  if (copies.length > 0) await fetchIntoUser(mirror, copies);
  // Who began from one of these would bring it back by landing, should the branch ever be there again.
  const seen = ours.filter((left) => isLine(left) || left.ref.startsWith("refs/ratchet/seen/"));
  const withdrawn = seen.map(({ commit }) => [withdrawnRef(name, commit), commit] as const);
  const changes = [...new Map(withdrawn)].map(([ref, to]) => ({ ref, to }));
  // Where another run is still at it all stays, and git says what is in the way.
  if (!(await updateRefs(mirror.path, [...changes, ...ours.map(removed)]))) return unmerged;
  unmarkGiven(mirror, name);
  await updateRefs(mirror.repoPath, theirs.map(removed));
  return unmerged;
}

function removed({ ref, commit }: Left): RefChange {
  return { ref, to: null, from: commit };
}

async function withoutBranch({ path }: Mirror, commits: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const commit of commits) {
    const places = ["refs/user/heads", "refs/user/remotes"];
    const args = ["for-each-ref", "--count=1", "--format=%(refname)", `--contains=${commit}`, ...places];
    if ((await gitText(path, args)) === "") found.push(commit);
  }
  return found;
}
