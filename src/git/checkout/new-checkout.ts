import { mkdirSync } from "node:fs";
import { codeOf } from "../../lib/errors.js";
import { gitScript } from "../git.js";
import { type Checkout, gitEnvironmentIn } from "./checkout-git.js";
import { makeSkeleton, skeletonOf } from "./checkout-skeleton.js";
import type { KnownTemplate } from "./checkout-template.js";

/**
 * A new checkout's two folders and what is in them, made by one program: a dozen files and folders that this process
 * need not wait for. Its git folder is there first, so whoever comes after a crash knows that there is something to end
 * and to remove; it says whose the files are before there is one; and until it says `ready`, both folders are made anew.
 */
export interface NewFiles {
  readonly checkout: Checkout & { readonly template: KnownTemplate };
  readonly commit: string;
  /** With the files of the commit and both indexes; else there is `.git` alone. */
  readonly fill: boolean;
}

export async function makeFiles({ checkout, commit, fill }: NewFiles): Promise<void> {
  const { mirror, path, gitDir, branch, baseSha, template } = checkout;
  makeFolder(gitDir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const skeleton = skeletonOf(mirror, template);
  const about = [inJson(path), inJson(branch ?? "")];
  const args = [gitDir, path, skeleton, mirror.path, fill ? "fill" : "", ...about, branch ?? "", commit, baseSha];
  const env = gitEnvironmentIn(checkout, { own: true });
  const make = (okCodes: readonly number[]) => gitScript(path, script, { args, env, okCodes });
  for (let tries = 1; tries < triesAtMost; tries++) {
    if ((await make([notCopied])).code === 0) return;
    await makeSkeleton(mirror, template);
  }
  await make([]);
}

/** Whoever has just read other settings of the user's removes the skeleton of the older ones. */
const triesAtMost = 4;

/** Only its owner may look into it, whatever is in it. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Plain text stays what it is. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

const notCopied = 3;

const script = {
  name: "read-tree",
  text: `
set -e
cp -R "$3/." "$1" || exit ${notCopied}
if [ -e "$4/shallow" ]; then cp "$4/shallow" "$1/shallow"; fi
if [ -n "$8" ]; then
  printf '{"path":"%s","branch":"%s","baseSha":"%s"}' "$6" "$7" "\${10}" >"$1/ratchet/checkout.json"
  printf '%s refs/heads/%s\\n' "$9" "$8" >>"$1/packed-refs"
  printf 'ref: refs/heads/%s\\n' "$8" >"$1/HEAD"
else
  printf '{"path":"%s","branch":null,"baseSha":"%s"}' "$6" "\${10}" >"$1/ratchet/checkout.json"
  printf '%s\\n' "$9" >"$1/HEAD"
fi
printf 'gitdir: %s\\n' "$1" >"$2/.git"
if [ -n "$5" ]; then
  git read-tree --reset -u HEAD
  exec cp "$1/ratchet-index" "$1/index"
fi`,
};
