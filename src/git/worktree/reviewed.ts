import { git } from "../git.js";
import { hasCommit, isAncestor, type Mirror, readRef, readRefs, updateRefs } from "../mirror/mirror-refs.js";

interface Reviewed {
  readonly trigger: string;
  readonly target: string;
}

/** How far a trigger's review has come on a branch; kept in the mirror, so that the next run goes on from there. */
export async function markReviewed(mirror: Mirror, at: Reviewed & { readonly commit: string }): Promise<void> {
  await updateRefs(mirror.path, [{ ref: refOf(at), to: at.commit }]);
}

interface From extends Reviewed {
  readonly tip: string;
}

/**
 * Where the next review begins; null: there was none. Of a commit that the branch does not have, because it was amended
 * or was on a branch that nobody has merged, it is where the two part: what came since then was seen by no review.
 */
export async function readReviewed(mirror: Mirror, from: From): Promise<string | null> {
  const { tip } = from;
  const commit = await readRef(mirror.path, refOf(from));
  if (commit === null) return await readElsewhere(mirror, from);
  if (await isAncestor(mirror.path, commit, tip)) return commit;
  const output = await git(mirror.path, ["merge-base", commit, tip], { okCodes: [1] });
  return output.stdout.toString("utf8").trim() || null;
}

/** A branch without a review of its own was made from others: of theirs the newest that it has. */
async function readElsewhere({ path }: Mirror, { trigger, tip }: From): Promise<string | null> {
  const had: string[] = [];
  for (const commit of new Set((await readRefs(path, [folderOf(trigger)])).values()))
    if ((await hasCommit(path, commit)) && (await isAncestor(path, commit, tip))) had.push(commit);
  if (had.length < 2) return had[0] ?? null;
  // Those that no other of them has.
  const output = await git(path, ["merge-base", "--independent", ...had]);
  return output.stdout.toString("utf8").split("\n")[0] ?? null;
}

function folderOf(trigger: string): string {
  return `refs/ratchet/reviewed/${trigger}`;
}

function refOf({ trigger, target }: Reviewed): string {
  return `${folderOf(trigger)}/${target}`;
}
