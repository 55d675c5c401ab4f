import { git } from "./git.js";
import { isAncestor, type Mirror, readRef, updateRefs } from "./mirror-refs.js";

interface Reviewed {
  readonly trigger: string;
  readonly target: string;
}

/** How far a trigger's review has come on a branch; kept in the mirror, so that the next run goes on from there. */
export async function markReviewed(mirror: Mirror, at: Reviewed & { readonly commit: string }): Promise<void> {
  await updateRefs(mirror.path, [{ ref: refOf(at), to: at.commit }]);
}

/**
 * Where the next review begins; null: there was none. Of a commit that the branch does not have, because it was amended
 * or was on a branch that nobody has merged, it is where the two part: what came since then was seen by no review.
 */
export async function readReviewed(mirror: Mirror, at: Reviewed & { readonly tip: string }): Promise<string | null> {
  const { tip } = at;
  const commit = await readRef(mirror.path, refOf(at));
  if (commit === null || (await isAncestor(mirror.path, commit, tip))) return commit;
  const output = await git(mirror.path, ["merge-base", commit, tip], { okCodes: [1] });
  return output.stdout.toString("utf8").trim() || null;
}

function refOf({ trigger, target }: Reviewed): string {
  return `refs/ratchet/reviewed/${trigger}/${target}`;
}
