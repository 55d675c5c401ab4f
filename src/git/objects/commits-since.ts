import { gitText } from "../git.js";
import type { Mirror } from "../mirror/mirror-refs.js";

/** Of each commit. */
export type Parents = ReadonlyMap<string, readonly string[]>;

/** What the heads have and the ends have not, newest first. Of those that are gone nothing is known. */
export async function commitsSince(
  { path }: Mirror,
  heads: readonly string[],
  ends: readonly string[],
): Promise<Parents> {
  const input = [...heads, ...ends.map((end) => `^${end}`)].map((line) => `${line}\n`).join("");
  const args = ["rev-list", "--topo-order", "--parents", "--ignore-missing", "--stdin"];
  const commits = (await gitText(path, args, { input })).split("\n").filter(Boolean);
  return new Map(commits.map((line) => line.split(" ")).map(([id = "", ...parents]) => [id, parents]));
}
