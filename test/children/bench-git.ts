import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLandingWorktree, removeLandingWorktree } from "../../src/git/landing/land.js";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { openWorktree, removeWorktree } from "../../src/git/worktree/worktree.js";

/** Opens and removes worktrees, `atOnce` at a time; says how many could not be opened or removed. */
export async function countFailedWorktrees({ rounds, atOnce }: { rounds: number; atOnce: number }): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  try {
    const repoPath = join(home, "repo");
    execFileSync("git", ["init", "-q", "-b", "main", repoPath]);
    for (let index = 0; index < 50; index++) writeFileSync(join(repoPath, `${index}.txt`), `${index}\n`);
    const sh = (command: string) => execFileSync("sh", ["-ec", command], { cwd: repoPath, encoding: "utf8" }).trim();
    const base = sh("git add -A && git -c user.name=b -c user.email=b@x commit -qm base && git rev-parse HEAD");
    const mirror = await openMirror({ repoPath, mirrorPath: join(home, "mirror.git") });
    let failed = 0;
    for (let round = 0; round < rounds; round++) {
      const issues = Array.from({ length: atOnce }, (_, index) => `${round}-${index}`);
      const results = await Promise.allSettled(
        issues.map(async (issue) => {
          const path = join(home, "worktrees", issue);
          const branch = `ratchet/${issue}`;
          await openWorktree(mirror, { path, branch, base, copy: [], repoPath });
          await removeWorktree(mirror, { path, branch, issue, landed: base });
        }),
      );
      failed += results.filter(({ status }) => status === "rejected").length;
    }
    return failed;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A large repository, Ratchet's worktrees of it, and plain ones of a bare clone to compare with. */
export async function openPoolWorld(size: { folders: number; filesEach: number; ignoredFiles: number }) {
  const home = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  const repoPath = join(home, "repo");
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-C", cwd, ...args], { encoding: "utf8" }).trim();
  let base = makeLargeRepository(repoPath, size);
  git(home, "clone", "-q", "--bare", repoPath, join(home, "plain.git"));
  const mirror = await openMirror({ repoPath, mirrorPath: join(home, "mirror.git") });
  const pathOf = (issue: string) => join(home, "worktrees", issue);
  const plain = (round: number) => join(home, "plain", String(round));
  const detached = pathOf("_landing");
  return {
    addPlain: (round: number) =>
      git(join(home, "plain.git"), "worktree", "add", "-q", "-b", `b${round}`, plain(round), "main"),
    removePlain: (round: number) => git(join(home, "plain.git"), "worktree", "remove", plain(round)),
    open: (issue: string) =>
      openWorktree(mirror, { path: pathOf(issue), branch: `ratchet/${issue}`, base, copy: [], repoPath }),
    /** What an agent does: a commit, and files that git ignores. */
    work: (issue: string) => {
      const path = pathOf(issue);
      fill(join(path, "build"), size.ignoredFiles);
      writeFileSync(join(path, "0", "1.txt"), `${issue}\n`);
      git(path, "commit", "-qam", issue);
      base = git(path, "rev-parse", "HEAD");
    },
    remove: (issue: string) =>
      removeWorktree(mirror, { path: pathOf(issue), branch: `ratchet/${issue}`, issue, landed: base }),
    openDetached: () => openLandingWorktree(mirror, { path: detached, commit: base }),
    releaseDetached: () => removeLandingWorktree(mirror, detached),
    pooled: () => readdirSync(join(mirror.path, "pool")).length,
    close: () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function makeLargeRepository(repoPath: string, { folders, filesEach }: { folders: number; filesEach: number }): string {
  const git = (...args: string[]) => execFileSync("git", ["-C", repoPath, ...args], { encoding: "utf8" }).trim();
  mkdirSync(repoPath);
  git("init", "-q", "-b", "main");
  git("config", "user.name", "b");
  git("config", "user.email", "b@x");
  for (let index = 0; index < folders; index++) fill(join(repoPath, String(index)), filesEach);
  writeFileSync(join(repoPath, ".gitignore"), "build/\n");
  git("add", "-A");
  git("commit", "-qm", "base");
  return git("rev-parse", "HEAD");
}

function fill(folder: string, files: number): void {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < files; index++) writeFileSync(join(folder, `${index}.txt`), `${folder} ${index}\n`);
}
