import { gitText } from "./git.js";
import { LooseObjects } from "./loose-objects.js";

/** The tree of a commit of a bare repository. */
export async function treeOf(repository: string, commit: string): Promise<string> {
  return looseTree(repository, commit) ?? (await gitText(repository, ["rev-parse", "--verify", `${commit}^{tree}`]));
}

/** null: it is no commit that has a file of its own there. */
export function looseTree(repository: string, commit: string): string | null {
  return new LooseObjects([repository]).commit(commit)?.tree ?? null;
}
