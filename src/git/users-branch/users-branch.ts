import { ExternalError } from "../../lib/errors.js";
import { findWholeCheckout, hasCheckout } from "../checkout/checkout.js";
import { gitIn } from "../checkout/checkout-git.js";
import { isAncestor, type Mirror, readRefs, updateRefs } from "../mirror/mirror-refs.js";
import { mergeFlags } from "./merge-scripts.js";
import { refusal } from "./refusal.js";

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
  if (await hasCheckout(mirror, path)) return await followIn(mirror, { path, branch, sha });
  if (here === null || (await isAncestor(mirror.path, here, sha))) {
    await updateRefs(mirror.path, [{ ref: own, to: sha, from: here }]);
  }
}

/** A refused landing leaves its worktree. It goes on to what was added since, unless it has commits of its own. */
async function followIn(
  mirror: Mirror,
  { path, branch, sha }: { readonly path: string; readonly branch: string; readonly sha: string },
): Promise<void> {
  const checkout = await findWholeCheckout(mirror, path);
  const { code, stderr } = await gitIn(checkout, ["merge", ...mergeFlags, sha], { okCodes: [1, 2, 128] });
  if (code === 0 || !(await isAncestor(checkout.gitDir, checkout.head, sha))) return;
  // What would land is not what the user has on the branch.
  throw new ExternalError("git", `what was added to ${branch} cannot be taken up: ${refusal(stderr)} in ${path}`);
}
