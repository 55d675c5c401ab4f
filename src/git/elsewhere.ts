import { formerRefs, formerTargetOf } from "./former-target.js";
import { gitText } from "./git.js";
import type { Mirror } from "./mirror-refs.js";
import { movedOnto } from "./moved-onto.js";
import { landedRefs, readEnds } from "./tip.js";
import { isIn } from "./withdrawn.js";

/**
 * Work is landed with everything it was built on. Where it was begun from one branch and is to land on another, or its
 * agent has merged one or put it onto one, that would be other people's commits, which nobody has asked for. So it is known
 * before anything is done.
 */
export interface Elsewhere {
  readonly commit: string;
  /** A branch that has it; the target does not. */
  readonly branch: string;
}

interface Work {
  /** Where its checkout is, or was. */
  readonly path: string;
  readonly target: string;
  readonly base: string;
  readonly head: string;
}

/** Of what work began from and has taken in since, the first that another branch of the user's has and the target has not. */
export async function findElsewhere(mirror: Mirror, work: Work): Promise<Elsewhere | null> {
  const { target, base, head } = work;
  const { landed, user } = await readEnds(mirror, target);
  const onto = await movedOnto(mirror, work);
  const taken = [...(onto === null ? [] : [onto]), ...(await mergedSince(mirror, base, head))];
  for (const commit of [base, ...taken]) {
    if (await isIn(mirror, commit, [landed, user])) continue;
    const branch = await branchWith(mirror, commit);
    if (branch !== null) return { commit, branch };
  }
  return null;
}

/** The other side of every merge. Its own side is the issue's, also where a person has fetched it into a branch of theirs. */
async function mergedSince({ path }: Mirror, base: string, head: string): Promise<string[]> {
  if (head === base) return [];
  const merges = await gitText(path, ["rev-list", "--min-parents=2", "--parents", `${base}..${head}`]);
  return merges.split("\n").flatMap((line) => line.split(" ").slice(2));
}

/** What a target has no longer is on none, and issues' own branches are no place that anything comes from. */
async function branchWith({ path }: Mirror, commit: string): Promise<string | null> {
  const places = ["refs/user/heads", landedRefs, formerRefs];
  const refs = await gitText(path, ["for-each-ref", "--format=%(refname)", `--contains=${commit}`, ...places]);
  const names = refs.split("\n").flatMap((ref) => places.flatMap((place) => nameBelow(ref, place)));
  return names.find((name) => !name.startsWith("ratchet/")) ?? null;
}

function nameBelow(ref: string, place: string): readonly string[] {
  if (!ref.startsWith(`${place}/`)) return [];
  const name = ref.slice(place.length + 1);
  return [place === formerRefs ? formerTargetOf(name) : name];
}
