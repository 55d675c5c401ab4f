import { isAncestor, type Mirror, readRefs, updateRefs } from "./mirror-refs.js";

interface Reviewed {
  readonly trigger: string;
  readonly target: string;
}

/** How far a trigger's review has come on a branch; kept in the mirror, so that the next run goes on from there. */
export async function markReviewed(mirror: Mirror, at: Reviewed & { readonly commit: string }): Promise<void> {
  await updateRefs(mirror.path, [{ ref: refOf(at), to: at.commit }]);
}

/** null: never, or the branch has lost that commit since. */
export async function readReviewed(mirror: Mirror, at: Reviewed & { readonly tip: string }): Promise<string | null> {
  const commit = (await readRefs(mirror.path, [refOf(at)])).get(refOf(at));
  return commit !== undefined && (await isAncestor(mirror.path, commit, at.tip)) ? commit : null;
}

function refOf({ trigger, target }: Reviewed): string {
  return `refs/ratchet/reviewed/${trigger}/${target}`;
}
