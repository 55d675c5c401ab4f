import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "../lib/errors.js";
import { exists } from "../lib/files.js";
import { withLock } from "../lib/lock.js";
import { type GitOutput, gitScript } from "./git.js";
import type { Mirror } from "./mirror-refs.js";
import { putText, readOr } from "./small-files.js";

/**
 * A fast-forward writes files and index first and moves the branch then. A person who commits in between has the branch:
 * what was written would be staged in their checkout, and in their next commit. So what is begun is noted beforehand, and
 * taken back where the branch was not to be had, by whoever comes next where that one was killed.
 */
export function begunFile(mirror: Mirror, target: string): string {
  return join(mirror.path, "ratchet", "begun", encodeURIComponent(target));
}

/** Of a checkout one at a time, or what one has begun another would take back. */
export async function mergeAlone<T>(mirror: Mirror, target: string, task: () => Promise<T>): Promise<T> {
  return await withLock(`${begunFile(mirror, target)}.lock`, task);
}

/** For `sh`: notes the merge of `commit` that this very shell begins in `checkout`. Both are shell words, as is the file. */
export function noteBegun(words: {
  readonly file: string;
  readonly commit: string;
  readonly checkout: string;
}): string {
  return `printf '%s\\n%s\\n%s\\n' ${words.commit} $$ ${words.checkout} >${words.file}`;
}

/**
 * A merge that git refuses has written nothing, unless what it was refused in the end is the branch. The codes are those
 * of `git merge`: a script that did not come so far ends with another.
 */
export function forgetRefused(file: string, { code, stderr }: Pick<GitOutput, "code" | "stderr">): void {
  if ([1, 2, 128].includes(code) && !/update_ref failed/.test(stderr)) putText(file, "");
}

const patienceMs = 10_000;

/** Whatever a person has changed in it since stays as it is, and then no longer staged. */
const takeBackScript = {
  name: "read-tree",
  text: `
git merge-base --is-ancestor "$1" HEAD && exit 0
git update-index -q --refresh
git read-tree -m -u "$1" HEAD || git read-tree -m -i "$1" HEAD`,
};

/** The checkout as if the merge that was begun there had not been; where it has come to its end it is left. */
export async function takeBackBegun(file: string): Promise<void> {
  const [commit = "", pid = "", checkout = ""] = readOr(file).split("\n");
  if (commit === "") return;
  // Git outlives a Ratchet that was killed, and may be about to move the branch.
  for (let waitedMs = 0; isRunning(Number(pid)) && waitedMs < patienceMs; waitedMs += 20) await delay(20);
  if (await exists(checkout)) await gitScript(checkout, takeBackScript, { args: [commit], lockWaitMs: 0 });
  putText(file, "");
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
