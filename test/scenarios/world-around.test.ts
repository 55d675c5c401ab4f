import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Sandbox, sandbox, until } from "./sandbox.js";

const landed = "refs/ratchet/landed/main";

function withAgent(script: string, more: object = {}): Sandbox {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent.sh", script) }, ...more });
  return box;
}

const work = `echo "$RATCHET_ISSUE_ID" >"$RATCHET_ISSUE_ID.txt"; git add --all; git commit --quiet --message "Work on $RATCHET_ISSUE_ID"`;

function lineOf(box: Sandbox): string {
  const ref = join(box.home, "repos/shop.git", landed);
  return existsSync(ref) ? readFileSync(ref, "utf8").trim() : "";
}

test("D3 a lock in the user's checkout is waited for, then the branch follows", async () => {
  const box = withAgent(`: >"$HOME/shop/.git/index.lock"; ${work}`);
  await box.add("one");
  const before = box.git("rev-parse", "main");
  const run = box.start(["run", "--json"]);
  await until("the work to be on the landed line", () => !["", before].includes(lineOf(box)));
  expect(box.git("rev-parse", "main")).toBe(before);
  rmSync(join(box.dir, ".git/index.lock"));
  expect((await run.ended).code).toBe(0);
  expect(box.git("rev-parse", "main")).toBe(lineOf(box));
  expect(box.read("one.txt")).toBe("one\n");
  expect(box.git("status", "--porcelain")).toBe("");
});

test("D3 a lock in the user's checkout that stays is told, with a command that works once it is gone", async () => {
  const box = withAgent(`: >"$HOME/shop/.git/index.lock"; ${work}`);
  await box.add("one");
  const run = await box.ratchet("run");
  expect(run.code).toBe(0);
  const command = /main is behind: .*index\.lock.* run `(git merge --ff-only [^`]+)`/.exec(run.stdout)?.[1] ?? "";
  expect(existsSync(join(box.dir, ".git/index.lock"))).toBe(true);
  expect((await box.ratchet("status")).stdout).toContain("main is behind");
  rmSync(join(box.dir, ".git/index.lock"));
  box.git(...command.split(" ").slice(1));
  expect(box.read("one.txt")).toBe("one\n");
});

test("D3 a lock in the private mirror is waited out and nothing is lost", async () => {
  const lock = `"$HOME/home/repos/shop.git/${landed}.lock"`;
  const box = withAgent(`mkdir -p "$(dirname ${lock})"; : >${lock}; ${work}`);
  await box.add("one");
  const run = box.start(["run"]);
  await until("the agent's turn to end", () => run.stdout().includes("turn: ended") || run.isEnded());
  // Long enough to have met the lock; nothing may land, and nobody may give up.
  await Promise.race([delay(1500), run.ended]);
  expect(run.isEnded()).toBe(false);
  expect(box.git("ls-tree", "--name-only", "main")).toBe("README.md");
  rmSync(join(box.home, "repos/shop.git", `${landed}.lock`));
  expect((await run.ended).code).toBe(0);
  expect(box.read("one.txt")).toBe("one\n");
});

/** git then works with a repository that has no checkout only where it is named, and Ratchet's mirror is such a one. */
function forbidBare(box: Sandbox): void {
  box.put(".gitconfig", "[safe]\n\tbareRepository = explicit\n");
}

const asForbidden = `test "$(git config safe.bareRepository)" = explicit && test -z "$GIT_CONFIG_COUNT$GIT_DIR"`;

test("with safe.bareRepository=explicit an issue lands, and agents and commands have the setting as it is", async () => {
  const box = withAgent(`set -e; ${asForbidden}; git status >/dev/null; ${work}; git log -1 --format=%s`, {
    commands: { test: `${asForbidden} && git log -1 && git diff --quiet` },
    evidence_check: { required: ["test"] },
  });
  forbidBare(box);
  await box.add("one");
  const run = await box.ratchet("run");
  expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
  expect(box.git("show", "main:one.txt")).toBe("one");
  expect((await box.ratchet("doctor")).stdout).toContain("everything that is needed is there");
});

test("safe.bareRepository=explicit, set while work is under way and parked, is no damage and in nothing's way", async () => {
  const box = withAgent(`${work}; exit 1`);
  await box.add("one");
  await box.add("two");
  expect((await box.ratchet("run")).code).toBe(1);
  expect((await box.ratchet("worktree", "park", "two")).code).toBe(0);
  forbidBare(box);
  expect((await box.ratchet("doctor")).stdout).toMatch(/^ok +mirror /m);
  expect((await box.ratchet("status")).stdout).not.toContain("damaged");
  expect((await box.ratchet("diff", "one")).stdout).toContain("+one");
  for (const command of [["worktree", "restore", "two"], ["gc"], ["worktree", "list"], ["land", "one"]])
    expect({ command, ...(await box.ratchet(...command)) }).toMatchObject({ command, code: 0, stderr: "" });
  box.configure({ agent: { type: "command", command: ["true"] } });
  const { code, stdout } = await box.ratchet("run", "--resume");
  expect([code, stdout]).toEqual([0, expect.not.stringContaining("damaged")]);
  expect([box.read("one.txt"), box.read("two.txt")]).toEqual(["one\n", "two\n"]);
});

test("worktree.copy brings the untracked files that the tests need, into issues' and landing worktrees, and never lands them", async () => {
  const box = withAgent(`test -e .env || exit 3; sleep 0.3; ${work}`, {
    commands: { check: 'test "$(cat .env)" = "KEY=1" && test "$(cat config/local.env)" = "KEY=2"' },
    evidence_check: { required: ["check"] },
    worktree: { copy: [".env", "config/local.env"] },
    max_agents: 2,
  });
  box.write(".gitignore", ".env\n");
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", "Ignore .env");
  box.write(".env", "KEY=1\n");
  box.write("config/local.env", "KEY=2\n");
  await box.add("one");
  await box.add("two");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(box.git("ls-tree", "-r", "--name-only", "main").split("\n").sort()).toEqual(
    [".gitignore", "README.md", "one.txt", "two.txt"].sort(),
  );
  expect([box.read(".env"), box.read("config/local.env")]).toEqual(["KEY=1\n", "KEY=2\n"]);
});

test.each([[["config/tracked.yml"]], [[]]])(
  "what an agent makes in a folder that worktree.copy names lands like any other work, with %j tracked in it",
  async (tracked) => {
    const box = withAgent(`echo new > config/new.txt; ${work}`, {
      commands: { check: "test -f config/new.txt -a -f config/local.env" },
      evidence_check: { required: ["check"] },
      worktree: { copy: ["config"] },
    });
    for (const name of tracked) box.write(name, "tracked\n");
    box.git("add", "--all");
    box.git("commit", "--quiet", "--allow-empty", "--message", "Config");
    box.write("config/local.env", "KEY=2\n");
    await box.add("one");
    expect((await box.ratchet("run")).code).toBe(0);
    expect(box.git("ls-tree", "-r", "--name-only", "main", "config").split("\n")).toEqual([
      "config/new.txt",
      ...tracked,
    ]);
  },
);

test("what worktree.copy names and nobody has is told once, and the run goes on", async () => {
  const box = withAgent(work, { worktree: { copy: [".evn", "outside", ".env"] } });
  box.write(".env", "KEY=1\n");
  symlinkSync("/etc/hostname", join(box.dir, "outside"));
  await box.add("one");
  await box.add("two");
  const told =
    "worktree.copy: not copied into worktrees: .evn (not there); outside (no file or folder of the repository)";
  expect((await box.ratchet("doctor")).stdout).toMatch(new RegExp(`ok +copy +${told.replaceAll(/[.()]/g, "\\$&")}`));
  const run = await box.ratchet("run");
  expect([run.code, run.stdout.split(told).length - 1]).toEqual([0, 1]);
});

test("with a detached checkout and finalize.into the work lands there, and the checkout stays where it is", async () => {
  const box = withAgent(work, { finalize: { into: "main" } });
  box.git("checkout", "--quiet", "--detach");
  const head = box.git("rev-parse", "HEAD");
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(box.git("rev-parse", "HEAD")).toBe(head);
  expect(box.git("show", "main:one.txt")).toBe("one");
  expect(existsSync(join(box.dir, "one.txt"))).toBe(false);
  expect(box.git("status", "--porcelain")).toBe("");
});

test("D5 a dirty checkout that is in the way is told and not touched; the work is on the landed line", async () => {
  const box = withAgent(`echo "by the agent" >>README.md; git commit --quiet --all --message "Work"`);
  box.write("README.md", "# A shop, changed by its owner\n");
  box.write("notes.txt", "mine\n");
  box.write("staged.txt", "staged\n");
  box.git("add", "staged.txt");
  const before = [box.git("status", "--porcelain"), box.git("rev-parse", "HEAD"), box.git("diff", "--cached")];
  await box.add("one");
  const run = await box.ratchet("run");
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(
    /main is behind: uncommitted changes in README\.md are in the way, run `git merge --ff-only/,
  );
  expect([box.git("status", "--porcelain"), box.git("rev-parse", "HEAD"), box.git("diff", "--cached")]).toEqual(before);
  expect(box.read("README.md")).toBe("# A shop, changed by its owner\n");
  expect(box.git("show", `${landed}:README.md`)).toBe("# A shop\nby the agent");
  expect(await box.status("one")).toBe("completed");
});
