import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../lib/errors.js";
import { isMissing } from "../lib/files.js";
import { findProgram } from "../lib/process/find.js";
import { stopProgram } from "../lib/process/stop.js";

/**
 * Ends the commands below `folder` that an earlier process started and did not see to their end. Commands are never
 * attached to, and what is owed next may be another one in another folder: two would work in one worktree at once.
 * Turns, told by their `attempt.json`, are left alone: they are attached to.
 */
export async function endLeftoverCommands(folder: string): Promise<void> {
  const left = claimedFolders(folder).filter((one) => {
    return !existsSync(join(one, "attempt.json")) && findProgram(one).state !== "ended";
  });
  await Promise.all(left.map((one) => stopProgram(one, { first: "SIGTERM", graceMs: 500, why: null })));
}

function claimedFolders(folder: string): string[] {
  if (isMissing(folder)) return [];
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return names.filter((name) => /(^|\/)pid$/.test(name)).map((name) => join(folder, dirname(name)));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
