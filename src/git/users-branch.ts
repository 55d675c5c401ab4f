import { hasCheckout } from "./checkout.js";
import { type Mirror, readRefs, updateRefs } from "./mirror-refs.js";

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
  const sha = refs.get(theirs);
  if (sha === undefined || refs.has(own) || (await hasCheckout(mirror, path))) return;
  await updateRefs(mirror.path, [{ ref: own, to: sha, from: null }]);
}
