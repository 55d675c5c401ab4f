import { git } from "./git.js";
import { isAncestor, readRefs, updateRefs } from "./mirror/mirror-refs.js";
import { mergeTreesAt } from "./objects/merge-trees.js";
import { asAuthor } from "./repository.js";

/** A repository on this machine that others push to, such as a bare one in a shared folder. */
export interface LocalRemote {
  head(branch: string): Promise<string | null>;
  canMerge(base: string, head: string): Promise<boolean>;
  /** What the branch is then; null: they conflict, or cannot be put in line. */
  merge(wanted: {
    readonly branch: string;
    readonly base: string;
    readonly head: string;
    readonly method: "squash" | "merge" | "rebase";
    readonly message: string;
  }): Promise<string | null>;
}

const identity = { name: "Ratchet", email: "ratchet@localhost" };

export function openLocalRemote(path: string): LocalRemote {
  return {
    head: async (branch) => (await readRefs(path, [`refs/heads/${branch}`])).get(`refs/heads/${branch}`) ?? null,
    canMerge: async (base, head) => (await mergeTreesAt(path, { ours: base, theirs: head })).type === "clean",
    merge: async ({ branch, base, head, method, message }) => {
      const merged = await mergeTreesAt(path, { ours: base, theirs: head });
      if (merged.type === "conflict") return null;
      const ref = `refs/heads/${branch}`;
      // Putting commits in line needs a checkout; where they are in line already they only follow.
      if (method === "rebase" && !(await isAncestor(path, base, head))) return null;
      const parents = method === "merge" ? ["-p", base, "-p", head] : ["-p", base];
      const args = ["commit-tree", merged.tree, ...parents, "-F", "-"];
      const made = method === "rebase" ? null : await git(path, args, { env: asAuthor(identity), input: message });
      const commit = made === null ? head : made.stdout.toString("utf8").trim();
      return (await updateRefs(path, [{ ref, to: commit, from: base }])) ? commit : null;
    },
  };
}
