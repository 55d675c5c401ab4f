import { formerRefs, formerTargetOf } from "./former-target.js";
import { gitText } from "./git.js";
import type { Mirror } from "./mirror-refs.js";
import { landedRefs, readEnds } from "./tip.js";
import { isIn } from "./withdrawn.js";

/**
 * Work is landed with everything it was built on. Where it was begun from one branch and is to land on another, that would
 * be the first one's commits, which nobody has asked for and no review has seen. So it is known before anything is done.
 */
export interface Elsewhere {
  readonly commit: string;
  /** A branch that has it; the target does not. */
  readonly branch: string;
}

/** Of commits that work is built on, the first that another branch of the user's has and the target has not. */
export async function findElsewhere(
  mirror: Mirror,
  { target, commits }: { readonly target: string; readonly commits: readonly string[] },
): Promise<Elsewhere | null> {
  const { landed, user } = await readEnds(mirror, target);
  for (const commit of commits) {
    if (await isIn(mirror, commit, [landed, user])) continue;
    const branch = await branchWith(mirror, commit);
    if (branch !== null) return { commit, branch };
  }
  return null;
}

/** What a target has no longer is on none, and issues' own branches are no place to begin from. */
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
