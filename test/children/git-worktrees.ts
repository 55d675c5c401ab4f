import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { openWorktree, removeWorktree } from "../../src/git/worktree/worktree.js";

/** Opens and removes worktrees, several at once, round after round; prints how many were made. */
const [repoPath = "", home = "", name = "", rounds = "1", atOnce = "8"] = process.argv.slice(2);
const mirror = await openMirror({ repoPath, mirrorPath: join(home, "mirror.git") });
let made = 0;
for (let round = 0; round < Number(rounds); round++) {
  const issues = Array.from({ length: Number(atOnce) }, (_, index) => `${name}-${round}-${index}`);
  await Promise.all(
    issues.map(async (issue) => {
      const path = join(home, "worktrees", issue);
      const branch = `ratchet/${issue}`;
      const opened = await openWorktree(mirror, { path, branch, base: process.env.BASE ?? "", copy: [], repoPath });
      if (opened.from !== "new") throw new Error(`${issue} came from ${opened.from}`);
      // One of each round leaves work to be parked.
      if (issue.endsWith("-0")) appendFileSync(join(path, "a.txt"), issue);
      await removeWorktree(mirror, { path, branch, issue, landed: null });
      made++;
    }),
  );
}
process.stdout.write(`${made}\n`);
