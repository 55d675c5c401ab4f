import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import { type Mirror, openMirror } from "../../src/git/mirror/mirror.js";
import { type OpenedWorktree, openWorktree } from "../../src/git/worktree/worktree.js";
import { copyOf } from "../copy-of.js";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-git-")));
  made.push(folder);
  return folder;
}

/** Plain git, as a person or an agent would call it. */
export function sh(cwd: string, command: string, env: Record<string, string> = {}): string {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
  const person = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_EDITOR: "true" };
  return execFileSync("sh", ["-ec", command], {
    cwd,
    env: { ...clean, ...person, ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).replace(/\n$/, "");
}

export function put(root: string, name: string, text: string | Buffer): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

export function read(root: string, name: string): string {
  return readFileSync(join(root, name), "utf8");
}

export interface World {
  readonly home: string;
  readonly repo: string;
  readonly mirror: Mirror;
  readonly base: string;
}

/** A user's repository on `main` with a few files and one commit, and its mirror. */
export async function makeWorld(prepare: (repo: string) => void = () => undefined): Promise<World> {
  const home = tempFolder();
  const repo = join(home, "repo");
  makeRepository(repo);
  prepare(repo);
  const mirror = await openMirror({ repoPath: repo, mirrorPath: join(home, "mirror.git") });
  return { home, repo, mirror, base: sh(repo, "git rev-parse HEAD") };
}

export const makeRepository = copyOf((repo) => {
  sh(repo, "git init -q -b main && git config user.name Ada && git config user.email ada@example.org");
  put(repo, "a.txt", "a\n");
  put(repo, "src/code.ts", "export const one = 1;\n");
  put(repo, "docs/guide.md", "# Guide\n");
  put(repo, ".gitignore", "build/\n");
  sh(repo, "git add -A && git commit -q -m first");
});

export async function open(
  world: World,
  issue: string,
  options: { base?: string; copy?: string[] } = {},
): Promise<OpenedWorktree> {
  return await openWorktree(world.mirror, {
    path: join(world.home, "worktrees", issue),
    branch: `ratchet/${issue}`,
    base: options.base ?? world.base,
    copy: options.copy ?? [],
    repoPath: world.repo,
  });
}

export function commit(path: string, name: string, text: string): string {
  put(path, name, text);
  return sh(path, `git add -A && git commit -q -m "change ${name}" && git rev-parse HEAD`);
}

export const identity = { name: "Ada", email: "ada@example.org" };
