import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMirror } from "../../src/git/mirror.js";
import { openWorktree, removeWorktree } from "../../src/git/worktree.js";

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
