import { findWholeCheckout, hasCheckout } from "./checkout.js";
import { gitIn } from "./checkout-git.js";
import { isAncestor, type Mirror, readRefs, updateRefs } from "./mirror-refs.js";

/**
 * An issue's branch that was put into the user's repository is the user's from then on. When it is to land, and nothing
 * newer of the issue is here, it is taken from there, with whatever the user added to it.
 */
export async function adoptUsersBranch(
  mirror: Mirror,
  { path, branch }: { path: string; branch: string },
): Promise<void> {
  const [own, theirs] = [`refs/heads/${branch}`, `refs/user/heads/${branch}`];
  const refs = await readRefs(mirror.path, [own, theirs]);
  const [here, sha] = [refs.get(own) ?? null, refs.get(theirs)];
  if (sha === undefined || sha === here) return;
  if (await hasCheckout(mirror, path)) return await followIn(mirror, path, sha);
  if (here === null || (await isAncestor(mirror.path, here, sha))) {
    await updateRefs(mirror.path, [{ ref: own, to: sha, from: here }]);
  }
}

/** A refused landing leaves its worktree. It goes on to what was added since; git refuses where it has work of its own. */
async function followIn(mirror: Mirror, path: string, sha: string): Promise<void> {
  const args = ["merge", "--ff-only", "--quiet", "--no-stat", "--no-autostash", "--no-verify-signatures", sha];
  await gitIn(await findWholeCheckout(mirror, path), args, { okCodes: [1, 2, 128] });
}
