import { git } from "../git.js";
import { isAncestor, type Mirror, readRef, readRefs, updateRefs } from "../mirror/mirror-refs.js";
import { treeOf } from "../objects/tree-of.js";

/**
 * Commits of the user's branch that nothing has landed on are theirs to drop, as is landed work that they let go. Whoever began from one meanwhile would bring
 * it back by landing, so the end of the branch is noted for as long as the landed line is not there, and what was dropped
 * of it is not forgotten: work that has it in it waits until the user has said what becomes of it.
 */
interface Ends {
  readonly landed: string | null;
  readonly user: string | null;
}

function seenRef(target: string): string {
  return `refs/ratchet/seen/${target}`;
}
function withdrawnRefs(target: string): string {
  return `refs/ratchet/withdrawn/${target}`;
}
export function withdrawnRef(target: string, commit: string): string {
  return `${withdrawnRefs(target)}/${commit}`;
}

/** Before anybody is told to begin from the user's branch. */
export async function noteWithdrawn(mirror: Mirror, target: string, { landed, user }: Ends): Promise<void> {
  const seen = await readRef(mirror.path, seenRef(target));
  const now = user === landed ? null : user;
  if (user === null || seen === now) return;
  const isKept =
    seen === null || (await isIn(mirror, seen, [user, landed])) || (await hasSameFiles(mirror, seen, user));
  const dropped = isKept ? [] : [{ ref: withdrawnRef(target, seen), to: seen }];
  await updateRefs(mirror.path, [{ ref: seenRef(target), to: now }, ...dropped]);
}

/** Why work at `head` may not be put on these ends; null: it has nothing in it that was dropped. */
export async function whyWithdrawn(
  mirror: Mirror,
  { target, head, ends }: { readonly target: string; readonly head: string; readonly ends: readonly string[] },
): Promise<string | null> {
  const refs = await readRefs(mirror.path, [withdrawnRefs(target)]);
  for (const [ref, dropped] of refs) {
    // Below it are also those of branches that begin with its name.
    if (ref !== withdrawnRef(target, dropped)) continue;
    const output = await git(mirror.path, ["merge-base", "--all", dropped, head], { okCodes: [1] });
    for (const base of output.stdout.toString().split("\n").filter(Boolean)) {
      // It may be this very work that was let go, and is wanted after all.
      if (base === head || (await isIn(mirror, base, ends))) continue;
      const id = base.slice(0, 12);
      const ways = `run \`git merge ${id}\` to have it again, or \`git merge -s ours ${id}\` to have this without it`;
      return `${target} no longer has ${id}, which this was built on: ${ways}`;
    }
  }
  return null;
}

/** Told in other words or put together anew, it brings nothing back. */
async function hasSameFiles({ path }: Mirror, before: string, now: string): Promise<boolean> {
  return (await treeOf(path, before)) === (await treeOf(path, now));
}

/** Any of these has it, or is it. */
export async function isIn({ path }: Mirror, commit: string, ends: readonly (string | null)[]): Promise<boolean> {
  for (const end of ends) if (end !== null && (end === commit || (await isAncestor(path, commit, end)))) return true;
  return false;
}
