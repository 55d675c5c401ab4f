import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commitLanding, followTarget, proposeLanding } from "../../src/git/landing/land.js";
import { openMirror, tipOf } from "../../src/git/mirror/mirror.js";
import { openWorktree, removeWorktree, snapshot } from "../../src/git/worktree/worktree.js";

/** Lands a number of issues, one after the other, against whoever else lands; prints the landed commits. */
const [repoPath = "", home = "", name = "", count = "5"] = process.argv.slice(2);
const identity = { name: "Ada", email: "ada@example.org" };
const mirror = await openMirror({ repoPath, mirrorPath: join(home, "mirror.git") });
for (let index = 0; index < Number(count); index++) {
  const issue = `${name}-${index}`;
  const path = join(home, "worktrees", issue);
  const tip = await tipOf(mirror, "main");
  if (tip.type !== "tip") throw new Error(tip.reason);
  const opened = await openWorktree(mirror, { path, branch: `ratchet/${issue}`, base: tip.sha, copy: [], repoPath });
  writeFileSync(join(path, process.env.LANDED_FILE ?? `${issue}.txt`), issue);
  execFileSync("sh", ["-ec", `git add -A && git commit -q -m ${issue}`], { cwd: path });
  const { head } = await snapshot(path, { base: opened.baseSha, docsPatterns: [] });
  const commit = await land(issue, head);
  await removeWorktree(mirror, { path, branch: opened.branch, issue, target: "main" });
  process.stdout.write(`${commit}\n`);
}

async function land(issue: string, head: string): Promise<string> {
  for (;;) {
    const message = { issue, title: `Add ${issue}`, run: "r1" };
    const proposal = await proposeLanding(mirror, { target: "main", head, message, identity });
    if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
    const { type } = await commitLanding(mirror, { target: "main", tip: proposal.tip, commit: proposal.commit });
    if (type === "moved") continue;
    await followTarget(mirror, { target: "main", commit: proposal.commit });
    return proposal.commit;
  }
}
