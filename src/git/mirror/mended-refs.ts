import { appendFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { namesIn, statsOf } from "../../lib/files.js";
import { git } from "../git.js";
import { isCommitId } from "../head.js";
import { parkedRefs, readGivenUp, settledRefs } from "../parking/parking.js";
import { putText, removeIfThere, textOf } from "../small-files.js";
import { brokenName } from "./mirror-health.js";
import { type Mirror, readRefs, updateRefs } from "./mirror-refs.js";

/**
 * A power cut may leave small files empty, cut off or with something else in them, and with one such ref git reads none.
 * What names no commit goes, by name: a landed line and the branches of worktrees come back from where else they are.
 */
export function dropUnreadableRefs(mirrorPath: string): readonly string[] {
  const dropped = dropBelow(mirrorPath, "refs");
  for (const ref of dropped) noteLost(mirrorPath, `unreadable ${ref}`);
  return [...dropped, ...mendPacked(mirrorPath)];
}

/** For somebody who has a copy of it elsewhere. */
export function noteLost(mirrorPath: string, line: string): void {
  appendFileSync(join(mirrorPath, "ratchet", "lost"), `${line}\n`);
}

function dropBelow(mirrorPath: string, name: string): readonly string[] {
  const path = join(mirrorPath, name);
  if (statsOf(path)?.isDirectory() === true)
    return namesIn(path).flatMap((below) => dropBelow(mirrorPath, `${name}/${below}`));
  const text = (textOf(path) ?? "").trim();
  if (name.endsWith(".lock") || isCommitId(text) || text.startsWith("ref: refs/")) return [];
  removeIfThere(path);
  return [name];
}

/** Its header says how the lines are sorted, which nobody knows of those that are left; git does without. */
function mendPacked(mirrorPath: string): readonly string[] {
  const path = join(mirrorPath, "packed-refs");
  const text = textOf(path) ?? "";
  const lines = text.split("\n");
  // What is behind the last line end is cut off, also where it looks like a name.
  const last = lines.pop();
  if (last === "" && lines.every((line) => /^#|^\^[0-9a-f]+$/.test(line) || isPacked(line))) return [];
  if (text === "") return [];
  const aside = brokenName(mirrorPath, "packed-refs");
  renameSync(path, join(mirrorPath, aside));
  putText(
    path,
    lines
      .filter(isPacked)
      .map((line) => `${line}\n`)
      .join(""),
  );
  return [`lines of packed-refs that cannot be read, which is kept as ${aside}`];
}

function isPacked(line: string): boolean {
  const [id = "", name = "", ...more] = line.split(" ");
  return isCommitId(id) && /^refs\/[!-~\u0080-\uffff]+$/.test(name) && more.length === 0;
}

/**
 * Parked work is known by its refs alone, and found by its message where all of them went. Not where some are left: work
 * that was let go is still among the objects.
 */
export async function bringParkedBack(mirror: Mirror): Promise<void> {
  if ((await readRefs(mirror.path, [parkedRefs, settledRefs])).size > 0) return;
  const found = await git(
    mirror.path,
    ["fsck", "--unreachable", "--no-reflogs", "--connectivity-only", "--no-progress"],
    {
      okCodes: [1, 2, 3, 4, 5, 6, 7, 8],
    },
  );
  const ids = [...found.stdout.toString().matchAll(/^unreachable commit ([0-9a-f]+)$/gm)].flatMap(([, id]) => id ?? []);
  if (ids.length === 0) return;
  const args = ["log", "--no-walk=sorted", "--reverse", "--author=^Ratchet <ratchet@localhost>$", "--format=%H %s"];
  const commits = await git(mirror.path, [...args, "--stdin"], { input: `${ids.join("\n")}\n` });
  const numbers = new Map<string, number>();
  const givenUp = readGivenUp(mirror);
  for (const [, id = "", name = ""] of commits.stdout.toString().matchAll(/^([0-9a-f]+) Parked work of (\S+)$/gm)) {
    const number = (numbers.get(name) ?? 0) + 1;
    numbers.set(name, number);
    const places = givenUp.has(id) ? [parkedRefs, settledRefs] : [parkedRefs];
    await updateRefs(
      mirror.path,
      places.map((place) => ({ ref: `${place}/${name}/${number}`, to: id })),
    );
  }
}
