import { lstat, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExternalError } from "../lib/errors.js";
import { isMissing } from "../lib/files.js";
import { pathHash } from "../lib/path-hash.js";
import { type LifeContext, worktreePath } from "./context.js";

/**
 * Agents leave much in the temporary folder and clear little of it away. Each worktree has one of its own, so that
 * caches survive from turn to turn and everything goes with the worktree. Its name is short: sockets are made in it.
 */
export function temporaryFolder(life: Pick<LifeContext, "run" | "names">): string {
  return temporaryFolderOf(worktreePath(life), life.run.env);
}

export function temporaryFolderOf(worktree: string, env: NodeJS.ProcessEnv): string {
  return join(env.TMPDIR || tmpdir(), `ratchet-${pathHash(worktree).slice(0, 10)}`);
}

/** Others may write to the folder above: what is there already must be ours. */
export async function makeTemporaryFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const found = await lstat(path);
  if (found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid)) return;
  throw new ExternalError("files", `${path} belongs to somebody else`, { hint: "remove it, or set TMPDIR" });
}

export async function removeTemporaryFolder(path: string): Promise<void> {
  if (isMissing(path)) return;
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}
