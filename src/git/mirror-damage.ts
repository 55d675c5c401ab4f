import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, resolve, sep } from "node:path";

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
  const file = /stored in ([^\n]+)\) is corrupt/.exec(stderr)?.[1];
  const mirror = mirrorOf(resolve(cwd, file ?? ""));
  if (mirror === null) return null;
  writeFileSync(damagedFile(mirror), stderr);
  return `${mirror} is damaged, and will be mended when it is opened next`;
}
