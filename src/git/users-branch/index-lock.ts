import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { codeOf, ExternalError, messageOf } from "../../lib/errors.js";
import { isMissing } from "../../lib/files.js";
import { lockedOut } from "../git.js";
import { readOr, removeIfThere } from "../small-files.js";
import { gitDirsIn } from "./places.js";

/**
 * While an index has its lock nobody else's git writes it, or is in the middle of a switch to another branch. A merge reads
 * it before it takes the lock: what a person stages in between would be gone. So the lock is taken for it, and it is given
 * another name of the index, whose own lock it takes. What it has made of that is put in the index's place before it
 * moves the branch, by a hook. Our lock says what was begun, as the note of it does: nobody else's is ever taken for ours.
 */
const lockName = "index.lock";
const ownName = "index.ratchet";

/** Below the folder of which the shell text is told as `$hooks`. */
export function writeHook(mirrorPath: string): void {
  const hook = join(mirrorPath, "ratchet", "hooks", "post-index-change");
  if (!isMissing(hook)) return;
  mkdirSync(dirname(hook), { recursive: true });
  const aside = `${hook}.${process.pid}`;
  writeFileSync(aside, `#!/bin/sh\nexec mv -f "$GIT_INDEX_FILE" "\${GIT_INDEX_FILE%.ratchet}"\n`);
  chmodSync(aside, 0o755);
  renameSync(aside, hook);
}

/**
 * For `sh`: `lock_index`, `unlock_index` and `with_index`, which runs a git command on the index `$index` that is locked.
 * `note` writes the text of the lock, and fails where there is one. Without an index there is nothing to lose. A file
 * system without hard links has a copy.
 */
export function lockingShell(note: string): string {
  return `
own=
lock_index() {
  [ -f "$index" ] && [ ! -L "$index" ] || return 0
  if ! { set -C; ${note} >"$index.lock"; } 2>/dev/null; then
    set +C
    [ -e "$index.lock" ] || return 0
    echo "fatal: Unable to create '$index.lock': File exists." >&2
    exit 128
  fi
  set +C
  own=\${index%/*}/${ownName}
  trap unlock_index EXIT
  trap 'exit 143' HUP INT TERM
  [ ! -e "$own.lock" ] || rm -f "$own.lock"
  ln -f "$index" "$own" 2>/dev/null || cp -p "$index" "$own" && return
  echo "fatal: $own could not be made" >&2
  exit 128
}
unlock_index() {
  trap - EXIT
  [ -z "$own" ] || rm -f "$own" "$own.lock" "$index.lock"
  own=
}
with_index() {
  [ -n "$own" ] || { git "$@"; return; }
  GIT_INDEX_FILE=$own git -c "core.hooksPath=$hooks" "$@"
  code=$?
  [ ! -e "$own" ] || [ "$own" -ef "$index" ] || mv -f "$own" "$index"
  return $code
}`;
}

/** Where the repository's checkouts have their index. One whose folder is gone is none. */
export function indexFolders(commonDir: string): readonly string[] {
  return gitDirsIn(commonDir).filter((folder) => existsSync(checkoutOf(folder)));
}

/** The folder of the files, by its git folder. */
export function checkoutOf(gitDir: string): string {
  return dirname(resolve(gitDir, readOr(join(gitDir, "gitdir")).trim()));
}

/** All of them, or none and it throws. */
export function lockIndexes(folders: readonly string[], text: string): void {
  const taken: string[] = [];
  try {
    for (const folder of folders) {
      lockIndex(join(folder, lockName), text);
      taken.push(folder);
    }
  } catch (error) {
    dropLocks(taken, text);
    throw error;
  }
}

function lockIndex(lock: string, text: string): void {
  let file: number;
  try {
    file = openSync(lock, "wx");
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw lockedOut(lock, 0, { code: 128, stderr: "" });
    throw new ExternalError("git", `${lock} could not be made (${messageOf(error)})`, { cause: error });
  }
  try {
    writeFileSync(file, text);
  } catch (error) {
    rmSync(lock, { force: true });
    throw new ExternalError("git", `${lock} could not be written (${messageOf(error)})`, { cause: error });
  } finally {
    closeSync(file);
  }
}

/** Those that have this text, which one that was killed may have left. */
export function dropLocks(folders: readonly string[], text: string): void {
  for (const folder of folders) {
    if (text === "" || readOr(join(folder, lockName)) !== text) continue;
    for (const name of [ownName, `${ownName}.lock`, lockName]) removeIfThere(join(folder, name));
  }
}
