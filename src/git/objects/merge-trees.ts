import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isMissing } from "../../lib/files.js";
import { readTemplate } from "../checkout/checkout-template.js";
import { bytesOf } from "../checkout/keep-tracked.js";
import { GitError, git } from "../git.js";
import { isCommitId } from "../head.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { commonDirOf } from "../repository.js";
import { readOr } from "../small-files.js";
import { type AttributesFile, attributesAt } from "./attributes-at.js";

/**
 * Merges without a checkout, as `git merge` would in one: a file that the attributes of our side, or the user's own,
 * say must not be merged by lines is a conflict, and one with a driver is merged by that. Git reads attributes from the
 * files of a work tree only, so for the time of the merge it is given one that has nothing else in it.
 */
export type Merge =
  | { readonly type: "clean"; readonly tree: string }
  | { readonly type: "conflict"; readonly files: readonly string[] };

/** Both are commit ids. */
export interface Sides {
  readonly ours: string;
  readonly theirs: string;
}

export async function mergeTrees(mirror: Mirror, sides: Sides): Promise<Merge> {
  return await mergeBy({ path: mirror.path, ...(await rulesIn(mirror, sides.ours)) }, sides);
}

/** In a repository that has settings of its own. */
export async function mergeTreesAt(repository: string, sides: Sides): Promise<Merge> {
  const path = await commonDirOf(repository);
  return await mergeBy({ path, files: await attributesAt(path, sides.ours), own: "" }, sides);
}

/** No attributes have a say in what is merged into this commit. */
export async function mergesPlainly(mirror: Mirror, ours: string): Promise<boolean> {
  const { files, own } = await rulesIn(mirror, ours);
  return files.length === 0 && own === "";
}

interface Rules {
  readonly files: readonly AttributesFile[];
  /** What the user's `info/attributes` says. Not put into the mirror's: a diff for a reviewer must hide nothing. */
  readonly own: string;
}

async function rulesIn(mirror: Mirror, commit: string): Promise<Rules> {
  const { attributes } = readTemplate(mirror);
  return { files: await attributesAt(mirror.path, commit), own: /^\s*[^#\s]/m.test(attributes) ? attributes : "" };
}

interface Place extends Rules {
  /** Of a git folder. */
  readonly path: string;
}

async function mergeBy(place: Place, sides: Sides): Promise<Merge> {
  if (place.files.length === 0 && place.own === "") return await runMerge(place.path, sides, {});
  const folder = mkdtempSync(join(tmpdir(), "ratchet-merge-"));
  try {
    const files = join(folder, "files");
    mkdirSync(files);
    for (const { path, text } of place.files) {
      const name = bytesOf(files, path);
      mkdirSync(Buffer.from(dirname(name.toString("latin1")), "latin1"), { recursive: true });
      writeFileSync(name, text);
    }
    const where = place.own === "" ? { GIT_DIR: place.path } : makeGitFolder(place, join(folder, "git"));
    return await runMerge(files, sides, { ...where, GIT_WORK_TREE: files });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One that has attributes of its own, and all else of the mirror. */
function makeGitFolder({ path, own }: Place, folder: string): Readonly<Record<string, string>> {
  for (const name of ["refs", "info"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/none\n");
  writeFileSync(join(folder, "config"), readOr(join(path, "config")));
  writeFileSync(join(folder, "info", "attributes"), own);
  const shallow = join(path, "shallow");
  return {
    GIT_DIR: folder,
    GIT_OBJECT_DIRECTORY: join(path, "objects"),
    ...(isMissing(shallow) ? {} : { GIT_SHALLOW_FILE: shallow }),
  };
}

async function runMerge(cwd: string, { ours, theirs }: Sides, env: Readonly<Record<string, string>>): Promise<Merge> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories"];
  const output = await git(cwd, [...args, ours, theirs], { okCodes: [1], env });
  const [first = "", ...files] = output.stdout.toString("utf8").split("\0").filter(Boolean);
  if (output.code !== 0) return { type: "conflict", files };
  // Whatever a driver has said stands before it.
  const tree = first.slice(-ours.length);
  if (!isCommitId(tree)) throw new GitError(`the merge of ${theirs} into ${ours} has no tree`, output);
  return { type: "clean", tree };
}
