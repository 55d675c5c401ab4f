import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** As much as codex itself would read. */
const longest = 32 * 1024;

/**
 * What the repository tells agents, for codex does not read it where it may not read the rest of a folder's
 * configuration. The same files that it would look for; a link could lead out of the worktree, so it is none of them.
 */
export function readInstructions(worktree: string): string | null {
  for (const name of ["AGENTS.override.md", "AGENTS.md"]) {
    const path = join(worktree, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const text = readFileSync(path).subarray(0, longest).toString("utf8").trim();
    if (text !== "") return `# ${name} of this repository\n\n${text}`;
  }
  return null;
}
