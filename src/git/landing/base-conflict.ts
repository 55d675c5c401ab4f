import { GitError } from "../git.js";
import { isAncestor, type Mirror } from "../mirror/mirror-refs.js";
import { mergeTrees } from "../objects/merge-trees.js";
import { fetchBranch } from "./push.js";

export interface OriginBase {
  /** As origin has it now; its commits are here. */
  readonly tip: string;
  readonly conflicts: boolean;
}

/** How a branch stands to the one it is to go into, as of now; null: origin does not tell. */
export async function compareWithOrigin(
  mirror: Mirror,
  { base, head }: { readonly base: string; readonly head: string },
): Promise<OriginBase | null> {
  const tip = await tipAt(mirror, base);
  if (tip === null) return null;
  if (await isAncestor(mirror.path, tip, head)) return { tip, conflicts: false };
  return { tip, conflicts: (await mergeTrees(mirror, { ours: head, theirs: tip })).type !== "clean" };
}

/** Whether origin can be reached is the push's business. */
async function tipAt(mirror: Mirror, base: string): Promise<string | null> {
  try {
    return await fetchBranch(mirror, base);
  } catch (error) {
    if (error instanceof GitError) return null;
    throw error;
  }
}
