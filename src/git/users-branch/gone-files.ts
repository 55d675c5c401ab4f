import { dirname, join } from "node:path";
import { gitText } from "../git.js";
import { linkStatsOf } from "../small-files.js";
import { changesBetween, isEntry, nameOf, namesOf } from "./merge-changes.js";

/**
 * The files that a merge of `commit` would write anew in the place of what a person has done: they have deleted them, or put
 * a link or a file where their folder was. To git such a file may be written, and a link in its way removed.
 */
export async function goneFiles(checkout: string, commit: string): Promise<readonly string[]> {
  const changes = await changesBetween(checkout, "HEAD", commit);
  const kept = changes.filter(({ before, after }) => isEntry(before) && isEntry(after));
  const gone = kept.filter(({ path }) => isGone(checkout, nameOf(path)));
  if (gone.length === 0) return [];
  const sparse = await notCheckedOut(checkout);
  return gone.flatMap(({ path }) => (sparse.has(path) ? [] : [nameOf(path)]));
}

function isGone(checkout: string, name: string): boolean {
  return linkStatsOf(join(checkout, name)) === undefined || isBelowOther(checkout, name);
}

/** Some folder of its path is there, and no folder. */
export function isBelowOther(checkout: string, name: string): boolean {
  const above = dirname(name);
  if (above === ".") return false;
  return linkStatsOf(join(checkout, above))?.isDirectory() === false || isBelowOther(checkout, above);
}

/** What git leaves out of a checkout of only a part, and does not write. */
async function notCheckedOut(checkout: string): Promise<ReadonlySet<string>> {
  const isPart = await gitText(checkout, ["config", "--get", "--type=bool", "--default=false", "core.sparseCheckout"]);
  if (isPart !== "true") return new Set();
  const tagged = await namesOf(checkout, ["ls-files", "-t", "-z"]);
  return new Set([...tagged].flatMap((line) => (line.startsWith("S ") ? [line.slice(2)] : [])));
}
