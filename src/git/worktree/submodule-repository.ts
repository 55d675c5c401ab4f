import { join } from "node:path";
import type { Checkout } from "../checkout/checkout-git.js";
import { git } from "../git.js";
import type { Link } from "../objects/links.js";
import type { InGit, Submodule } from "../objects/submodules.js";
import { linkStatsOf } from "../small-files.js";

/** The repositories of submodules as agents left them: they are asked, and nothing that they say is done. */
export interface Place {
  /** Its files, where they are checked out. */
  readonly files: Buffer;
  /** Its git folder, where it is the usual one. */
  readonly gitDir: string;
  /** What it is called, from the worktree on. */
  readonly path: Buffer;
}

export function placeOf({ files, gitDir, path }: Place, link: Link, module: Submodule | undefined): Place {
  const name = module?.name ?? "";
  // As git has it: such a name would lead out of the folder.
  const isName = name !== "" && !name.split("/").includes("..");
  return {
    files: Buffer.concat([files, Buffer.from("/"), link.path]),
    gitDir: join(gitDir, "modules", isName ? name : "none"),
    path: path.length === 0 ? link.path : Buffer.concat([path, Buffer.from("/"), link.path]),
  };
}

export interface Remote {
  readonly name: string;
  readonly url: string;
  /** It is pushed to another place than it is fetched from. */
  readonly isSplit: boolean;
}

export interface LinkedRepository {
  readonly remotes: readonly Remote[];
  readonly inGit: InGit;
}

/** The submodule's own, in the worktree or else in the checkout; of one that is not there git says nothing. */
export async function repositoryAt({ gitDir }: Checkout, place: Place): Promise<LinkedRepository> {
  const inFiles = Buffer.concat([place.files, Buffer.from("/.git")]);
  const folder = linkStatsOf(inFiles) === undefined ? place.gitDir : inFiles.toString("utf8");
  const inGit: InGit = (args) => {
    // Git goes into the work tree that the folder names, which may have been removed. What is missing it is not to fetch.
    const env = { GIT_DIR: folder, GIT_WORK_TREE: gitDir, GIT_NO_REPLACE_OBJECTS: "1", GIT_ALLOW_PROTOCOL: "none" };
    return git(gitDir, args, { env, okCodes: [1, 128] });
  };
  if (linkStatsOf(folder) === undefined) return { remotes: [], inGit };
  const args = ["config", "--local", "-z", "--get-regexp", "^remote\\..*\\.(url|pushurl)$"];
  const entries = [...(await inGit(args)).stdout.toString("utf8").matchAll(/remote\.(.*)\.(url|pushurl)\n([^\0]*)\0/g)];
  const split = entries.filter(([, , key]) => key === "pushurl").map(([, name]) => name);
  const urls = entries.filter(([, , key]) => key === "url");
  return { remotes: urls.map(([, name = "", , url = ""]) => ({ name, url, isSplit: split.includes(name) })), inGit };
}

export function isSamePlace(a: string, b: string): boolean {
  const plain = (url: string) => url.replace(/^file:\/\/(?=\/)/, "").replace(/\/+$/, "");
  return plain(a) === plain(b);
}

/** A branch of the remote is known to have it. */
export async function hasFrom(inGit: InGit, { name, isSplit }: Remote, id: string): Promise<boolean> {
  if (isSplit) return false;
  const output = await inGit(["rev-list", "--max-count=1", id, "--not", `--remotes=${name}`, "--"]);
  return output.code === 0 && output.stdout.length === 0;
}
