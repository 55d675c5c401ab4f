import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addIssues, openBench } from "../dist-test/bench-run.mjs";
import { compare, runProgram } from "./measure.mjs";

/**
 * What an issue costs beyond its agent: a run whose agent only commits, without a gate command, against the git commands
 * that such an issue needs, one after the other: a worktree, the commit, a look at it, landing, the user's branch
 * following, and the worktree removed. Both in one process that is already there, ten issues a round.
 */
const issues = 10;
const agent = "echo x > file-$RATCHET_ISSUE_ID && git add -A && git commit -qm work";

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  try {
    const script = join(folder, "agent.sh");
    writeFileSync(script, `${agent}\n`);
    const ours = makeRepository(join(folder, "ours"), script);
    const theirs = makeRepository(join(folder, "theirs"), script);
    const bench = await openBench({ cwd: ours, home: join(folder, "home") });
    runProgram("git", ["clone", "-q", "--bare", theirs, join(folder, "mirror.git")]);
    await addIssues(bench, ["warm-up"]);
    await bench.run();
    const result = await compare("an issue with a no-op agent / the git commands it needs", {
      theirs: (round) => bareIssues(folder, theirs, round),
      ours: async (round) => {
        await addIssues(
          bench,
          Array.from({ length: issues }, (_, index) => `ours-${round}-${index}`),
        );
        await bench.run();
      },
      rounds: 5,
      limit: 1.5,
    });
    bench.close();
    return [result];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeRepository(path, script) {
  mkdirSync(path);
  const git = (...args) => runProgram("git", ["-C", path, ...args]);
  git("init", "-qb", "main");
  git("config", "user.name", "a");
  git("config", "user.email", "a@b");
  writeFileSync(join(path, "ratchet.yaml"), `max_agents: 1\nagent: {type: command, command: [sh, ${script}]}\n`);
  git("add", "-A");
  git("commit", "-qm", "start");
  return path;
}

function bareIssues(folder, repository, round) {
  const mirror = join(folder, "mirror.git");
  for (let index = 0; index < issues; index++) {
    const id = `theirs-${round}-${index}`;
    const worktree = join(folder, id);
    const git = (cwd, ...args) => runProgram("git", ["-C", cwd, ...args]).trim();
    git(mirror, "fetch", "-q", repository, "+refs/heads/main:refs/heads/main");
    git(mirror, "worktree", "add", "-q", "-b", `ratchet/${id}`, worktree, "main");
    git(worktree, "config", "user.email", "a@b");
    runProgram("sh", ["-c", agent], { cwd: worktree, env: { ...process.env, RATCHET_ISSUE_ID: id } });
    git(worktree, "status", "--porcelain");
    const head = git(worktree, "rev-parse", "HEAD");
    git(worktree, "rev-list", "--count", "main..HEAD");
    git(mirror, "merge-base", "--is-ancestor", "main", head);
    git(mirror, "update-ref", "refs/ratchet/landed/main", head);
    git(repository, "fetch", "-q", mirror, "+refs/ratchet/landed/main:refs/ratchet/landed/main");
    git(repository, "merge", "-q", "--ff-only", "refs/ratchet/landed/main");
    git(mirror, "worktree", "remove", worktree);
    git(mirror, "branch", "-qD", `ratchet/${id}`);
  }
}
