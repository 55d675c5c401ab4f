import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, resolve, sep } from "node:path";
import { isSameFile, statsOf } from "../../lib/files.js";
import { readOr } from "../small-files.js";

/** The mirror that the file is a part of. null: another repository's, that of a checkout too, which is in the mirror's folder. */
export function mirrorOf(file: string): string | null {
  let folder = normalize(file);
  while (!isMirror(folder) && folder !== dirname(folder)) folder = dirname(folder);
  const [below = ""] = normalize(file)
    .slice(folder.length + 1)
    .split(sep);
  return isMirror(folder) && !["checkouts", "pool"].includes(below) ? folder : null;
}

function isMirror(folder: string): boolean {
  return existsSync(join(folder, "ratchet", "made"));
}

/** Where it is written down that something is broken in it: then it is mended when it is opened next. */
export function damagedFile(mirrorPath: string): string {
  return join(mirrorPath, "ratchet", "damaged");
}

const unreadable =
  / is corrupt|: inflate|unable to (read|parse|unpack) (tree|object|sha1|[0-9a-f]{40}|\S+ header)|missing (blob|tree|commit) |does not match index/;

/**
 * For whoever runs git: is what it said about an object of a mirror's, which it could not read? Then that is noted, and
 * told. null: it is not, or it may be another repository's.
 */
export function noteDamage(cwd: string, stderr: string): string | null {
  // What the other side says of itself is its own affair.
  const said = stderr.split("\n").filter((line) => !line.startsWith("remote:"));
  if (!said.some((line) => unreadable.test(line))) return null;
  const file = resolve(cwd, corruptFile(stderr) ?? "");
  const mirror = mirrorOf(file);
  if (mirror === null) return null;
  writeFileSync(damagedFile(mirror), stderr);
  // Only what the mirror has from the user's repository has another name.
  const stats = statsOf(file);
  const what =
    stats?.isFile() && stats.nlink > 1
      ? "in a file of your repository: run `git fsck` there"
      : "and will be mended when it is opened next";
  return `${mirror} is damaged, ${what}`;
}

function corruptFile(stderr: string): string | undefined {
  return /stored in ([^\n]+)\) is corrupt/.exec(stderr)?.[1];
}

/** The file that was noted, where the user's repository has that very file: there it has to be mended. null: it has not. */
export function damagedTheirs(mirrorPath: string, commonDir: string): string | null {
  const [, name] = /\/(objects\/.*)$/.exec(corruptFile(readOr(damagedFile(mirrorPath))) ?? "") ?? [];
  if (name === undefined) return null;
  const theirs = join(commonDir, name);
  return isSameFile(join(mirrorPath, name), theirs) ? theirs : null;
}
