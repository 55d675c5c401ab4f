import { readFileSync } from "node:fs";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { linkStatsOf } from "../small-files.js";

/**
 * Whether git knows of conflicts that may still be there. Whoever resolves them tells git, or edits the file that both sides
 * have: one that is neither side's any more and has no marks was resolved. All else that git still names is unresolved:
 * of binary files, links, and files that one side has deleted or renamed git leaves one side's and no marks.
 */
export async function hasConflicts(checkout: Checkout): Promise<boolean> {
  const { stdout } = await gitIn(checkout, ["ls-files", "-u", "-z"]);
  for (const [path, sides] of readSides(stdout)) {
    if (!(await isResolved(checkout, path, sides))) return true;
  }
  return false;
}

/** Ids of what the two sides have at a path, as far as they are plain files; names are bytes. */
function readSides(listed: Buffer): ReadonlyMap<string, readonly string[]> {
  const sides = new Map<string, readonly string[]>();
  for (const entry of listed.toString("latin1").split("\0").filter(Boolean)) {
    const tab = entry.indexOf("\t");
    const [mode = "", id = "", stage] = entry.slice(0, tab).split(" ");
    const path = entry.slice(tab + 1);
    const known = sides.get(path) ?? [];
    sides.set(path, stage !== "1" && mode.startsWith("100") ? [...known, id] : known);
  }
  return sides;
}

/** One that is larger is not looked through. */
const looked = 32 * 1024 * 1024;

async function isResolved(checkout: Checkout, name: string, sides: readonly string[]): Promise<boolean> {
  const file = Buffer.concat([Buffer.from(`${checkout.path}/`), Buffer.from(name, "latin1")]);
  const stats = linkStatsOf(file);
  if (sides.length !== 2 || !stats?.isFile() || stats.size > looked) return false;
  const content = readFileSync(file);
  if (isMarked(content)) return false;
  const path = Buffer.from(name, "latin1").toString();
  if (!Buffer.from(path).equals(Buffer.from(name, "latin1"))) return false;
  const hashed = await gitIn(checkout, ["hash-object", "--stdin", `--path=${path}`], { input: content });
  return !sides.includes(hashed.stdout.toString().trim());
}

/**
 * However long a repository has its marks, and in whatever encoding that has the letters of ASCII in it. Each length is
 * read once: its first opening, the first middle behind it, and any end behind that.
 */
export function isMarked(content: Buffer): boolean {
  const reached = new Map<number, "open" | "middle">();
  for (const line of content.toString("latin1").replaceAll("\0", "").split("\n")) {
    const mark = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?(<+|=+|>+)(?: |\s*$)/.exec(line)?.[1];
    if (mark === undefined) continue;
    const so = reached.get(mark.length);
    if (mark.startsWith("<") && so === undefined) reached.set(mark.length, "open");
    if (line.trimEnd() === mark && mark.startsWith("=") && so === "open") reached.set(mark.length, "middle");
    if (mark.startsWith(">") && so === "middle") return true;
  }
  return false;
}
