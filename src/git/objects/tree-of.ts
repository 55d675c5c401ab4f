import { gitText } from "../git.js";
import { LooseObjects } from "./loose-objects.js";

/** The tree of a commit of a bare repository. */
export async function treeOf(repository: string, commit: string): Promise<string> {
  const known = new LooseObjects([repository]).commit(commit)?.tree;
  return known ?? (await gitText(repository, ["rev-parse", "--verify", `${commit}^{tree}`]));
}
