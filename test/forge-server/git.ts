import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const identity = ["NAME", "EMAIL"].flatMap((part) =>
  ["AUTHOR", "COMMITTER"].map((who) => [`GIT_${who}_${part}`, part === "NAME" ? "Forge" : "forge@localhost"]),
);

export async function git(gitDir: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, ...Object.fromEntries(identity), GIT_EDITOR: "true", GIT_CONFIG_NOSYSTEM: "1" };
  const { stdout } = await run("git", ["-C", gitDir, ...args], { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trimEnd();
}

/** A branch's commit, read from the files: no process for something that is asked a hundred times. */
export function headOf(gitDir: string, branch: string): string | null {
  const file = join(gitDir, "refs/heads", branch);
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const packed = join(gitDir, "packed-refs");
  const text = existsSync(packed) ? readFileSync(packed, "utf8") : "";
  const line = text.split("\n").find((each) => each.endsWith(` refs/heads/${branch}`));
  return line?.split(" ")[0] ?? null;
}

/** The merged tree, or null where they conflict. */
async function mergeTree(gitDir: string, base: string, head: string): Promise<string | null> {
  try {
    return (await git(gitDir, "merge-tree", "--write-tree", base, head)).split("\n")[0] ?? null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === 1) return null;
    throw error;
  }
}

export async function canMerge(gitDir: string, base: string, head: string): Promise<boolean> {
  return (await mergeTree(gitDir, base, head)) !== null;
}

interface Merge {
  readonly branch: string;
  readonly base: string;
  readonly head: string;
  readonly method: string;
  readonly message: string;
}

/** Really merges in the bare repository; null: conflict. */
export async function merge(gitDir: string, wanted: Merge): Promise<string | null> {
  const { branch, base, head, method, message } = wanted;
  const tree = await mergeTree(gitDir, base, head);
  if (tree === null) return null;
  const parents = method === "merge" ? ["-p", base, "-p", head] : ["-p", base];
  const commit =
    method === "rebase"
      ? await rebase(gitDir, base, head)
      : await git(gitDir, "commit-tree", tree, ...parents, "-m", message);
  await git(gitDir, "update-ref", `refs/heads/${branch}`, commit, base);
  return commit;
}

async function rebase(gitDir: string, base: string, head: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "forge-rebase-"));
  try {
    await git(gitDir, "worktree", "add", "--detach", "--force", folder, head);
    await git(folder, "rebase", base);
    return await git(folder, "rev-parse", "HEAD");
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await git(gitDir, "worktree", "prune");
  }
}

export interface ChangedFile {
  readonly path: string;
  readonly status: "added" | "removed" | "modified";
  readonly patch: string;
}

const diffs = new Map<string, Promise<ChangedFile[]>>();

export function changedFiles(gitDir: string, base: string, head: string): Promise<ChangedFile[]> {
  const key = `${gitDir}:${base}:${head}`;
  const known = diffs.get(key) ?? readChanges(gitDir, base, head);
  diffs.set(key, known);
  return known;
}

async function readChanges(gitDir: string, base: string, head: string): Promise<ChangedFile[]> {
  const text = await git(gitDir, "diff", "--no-renames", `${base}...${head}`);
  return text.split(/^(?=diff --git )/m).flatMap((part) => {
    const path = /^(?:\+\+\+ b|--- a)\/(.+)$/m.exec(part.replace(/^(?:\+\+\+|---) \/dev\/null$/gm, ""))?.[1];
    if (path === undefined) return [];
    const status = part.includes("\nnew file mode")
      ? "added"
      : part.includes("\ndeleted file")
        ? "removed"
        : "modified";
    const start = part.indexOf("\n@@") + 1;
    return [{ path, status, patch: start === 0 ? "" : part.slice(start).trimEnd() } as const];
  });
}

const texts = new Map<string, string[]>();

async function linesOf(gitDir: string, commit: string, path: string): Promise<string[]> {
  const key = `${gitDir}:${commit}:${path}`;
  const known = texts.get(key);
  if (known) return known;
  const lines = await git(gitDir, "show", `${commit}:${path}`).then(
    (text) => text.split("\n"),
    () => [],
  );
  texts.set(key, lines);
  return lines;
}

/** Where a line of one commit's file is in another's: the same text, nearest; null: it is gone. */
export async function followLine(
  gitDir: string,
  at: { readonly path: string; readonly line: number; readonly from: string; readonly to: string },
): Promise<number | null> {
  if (at.from === at.to) return at.line;
  const text = (await linesOf(gitDir, at.from, at.path))[at.line - 1];
  const now = await linesOf(gitDir, at.to, at.path);
  const places = now.flatMap((line, index) => (line === text ? [index + 1] : []));
  return places.sort((a, b) => Math.abs(a - at.line) - Math.abs(b - at.line))[0] ?? null;
}
