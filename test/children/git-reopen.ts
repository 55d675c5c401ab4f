import { join } from "node:path";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { openWorktree, removeWorktree } from "../../src/git/worktree/worktree.js";

/** Opens and removes one worktree, again and again, until it is killed; a line tells each beginning. */
const [repoPath = "", home = "", issue = "", base = ""] = process.argv.slice(2);
const mirror = await openMirror({ repoPath, mirrorPath: join(home, "mirror.git") });
const path = join(home, "worktrees", issue);
const branch = `ratchet/${issue}`;
for (;;) {
  process.stdout.write("opening\n");
  await openWorktree(mirror, { path, branch, base, copy: [], repoPath });
  process.stdout.write("removing\n");
  await removeWorktree(mirror, { path, branch, issue, landed: base });
}
