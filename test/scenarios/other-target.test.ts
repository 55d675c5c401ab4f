import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, type Sandbox, sandbox } from "./sandbox.js";

/** Work that was begun from one branch, and is to land on another that lacks some of it. */
async function begunOnMain(does: string): Promise<Sandbox> {
  const box = sandbox();
  const agent = `
cat >/dev/null
[ -e "$HOME/go" ] || { ${does}; exit 9; }
echo done >>"$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did $RATCHET_ISSUE_ID"
`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  box.git("branch", "release");
  box.write("unreleased.txt", "not for release\n");
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", "Unreleased");
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  box.put("go", "");
  return box;
}

const files = (box: Sandbox, branch: string) => box.git("ls-tree", "--name-only", branch).split("\n");

test.each([
  ["run --resume", ["run", "--resume"]],
  ["a run after retry", ["run"]],
])("D5 %s on another branch: what nobody has worked on yet begins anew there", async (_, args) => {
  const box = await begunOnMain(":");
  box.git("checkout", "--quiet", "release");
  await box.quick("retry", "one");
  const run = await box.ratchet(...args);
  expect(run.stdout).toContain("Nothing was done yet, and release lacks what it was begun from: it starts anew at");
  expect(run.code).toBe(0);
  expect(files(box, "release")).toContain("one.txt");
  expect(files(box, "release")).not.toContain("unreleased.txt");
});

const half = "echo half >half.txt; git add -A; git commit -q -m Half";

test("D5 work built on what the target lacks is neither gone on with nor landed there, and says what to do", async () => {
  const box = await begunOnMain(half);
  box.git("checkout", "--quiet", "release");
  const base = box.git("rev-parse", "main").slice(0, 12);
  for (const args of [
    ["run", "--resume"],
    ["land", "one"],
  ]) {
    const run = await box.ratchet(...args);
    expect(run.code).toBe(1);
    expect(run.stdout).toContain(`it was built on ${base} of main, which release does not have: land it on main`);
    expect(run.stdout).not.toContain("prompt");
  }
  expect(files(box, "release")).not.toContain("unreleased.txt");
  box.git("checkout", "--quiet", "main");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  for (const file of ["half.txt", "one.txt"]) expect(files(box, "main")).toContain(file);
});

test("D5 work that is in the way on another branch is begun afresh there, as it says", async () => {
  const box = await begunOnMain(half);
  box.git("checkout", "--quiet", "release");
  await box.quick("retry", "one", "--afresh");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(files(box, "release")).toContain("one.txt");
  for (const file of ["half.txt", "unreleased.txt"]) expect(files(box, "release")).not.toContain(file);
});

test("D5 with finalize.into changed it is the same, also where only the branch is left of the work", async () => {
  const box = await begunOnMain(half);
  rmSync(join(box.home, "worktrees"), { recursive: true });
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), finalize: { into: "release" } });
  const run = await box.ratchet("run", "--resume");
  expect(run.code).toBe(1);
  expect(run.stdout).toContain("of main, which release does not have");
});

test("D5 where nothing is left of the work, it begins on the branch where it is to land", async () => {
  const box = await begunOnMain(half);
  for (const folder of ["worktrees", "repos"]) rmSync(join(box.home, folder), { recursive: true });
  box.git("checkout", "--quiet", "release");
  const run = await box.ratchet("run", "--resume");
  expect(run.stdout).toContain("Nothing is left of the work");
  expect(run.code).toBe(0);
  expect(files(box, "release")).toContain("one.txt");
  expect(files(box, "release")).not.toContain("unreleased.txt");
});

test("D5 a branch that was given to the user is known by its record, also when the mirror is gone", async () => {
  const box = await begunOnMain(":");
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), finalize: { mode: "branch" } });
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  rmSync(join(box.home, "repos"), { recursive: true });
  box.git("checkout", "--quiet", "release");
  const landed = await box.ratchet("land", "one");
  expect(landed.code).toBe(1);
  expect(landed.stdout).toContain("of main, which release does not have");
  expect(files(box, "release")).not.toContain("unreleased.txt");
});

const own = "echo x >x; git add x; git commit -qm x";

test.each([
  ["merged", `${own}; git merge -q FETCH_HEAD`],
  ["gone forward to", `git merge -q --ff-only FETCH_HEAD; ${own}`],
  ["begun anew from", `${own}; git reset -q --hard FETCH_HEAD; ${own}`],
  ["put its work on", `${own}; git rebase -q FETCH_HEAD`],
])("D5 what the agent has %s by itself counts like what it was begun from", async (_, does) => {
  const box = sandbox();
  const agent = `cat >/dev/null; git fetch -q ${box.dir} main; ${does}; exit 9`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  box.git("branch", "release");
  await box.add("one");
  box.git("checkout", "--quiet", "release");
  box.write("later.txt", "of main\n");
  box.git("checkout", "--quiet", "main");
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", "Later");
  box.git("checkout", "--quiet", "release");
  expect((await box.ratchet("run")).code).toBe(1);
  const landed = await box.ratchet("land", "one");
  expect(landed.code).toBe(1);
  const id = box.git("rev-parse", "main").slice(0, 12);
  expect(landed.stdout).toContain(`it was built on ${id} of main, which release does not have`);
});

/** `release` has a commit that the target lacks. */
async function besideRelease(does: string, settings: Record<string, unknown> = {}): Promise<Sandbox> {
  const box = sandbox();
  const agent = `cat >/dev/null; [ -e "$HOME/go" ] && { ${goesOn}; exit; }; ${does}`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) }, ...settings });
  box.git("checkout", "--quiet", "-b", "release");
  commit(box, "release.txt");
  box.git("checkout", "--quiet", "main");
  await box.add("one");
  return box;
}

const goesOn = "echo done >done; git add done; git commit -qm Done";

function commit(box: Sandbox, file: string): void {
  box.write(file, "by a person\n");
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", `Add ${file}`);
}

const refusal = (box: Sandbox, branch = "release") =>
  `it was built on ${box.git("rev-parse", branch).slice(0, 12)} of ${branch}, which main does not have: land it on ${branch}`;

test.each([
  ["merged", `${own}; git merge -q release -m Merge`],
  ["gone forward to", `git merge -q --ff-only release; ${own}`],
  ["begun anew from", `git reset -q --hard release; ${own}`],
  ["put its work on", `${own}; git rebase -q release`],
  [
    "merged with commits of its own on it",
    `git checkout -qb mine release; ${own}; git checkout -q -; git merge -q --no-ff -m Take mine`,
  ],
])("D5 what the agent has %s does not land within the same life either", async (_, does) => {
  const box = await besideRelease(does);
  const run = await box.ratchet("run");
  expect(run.code).toBe(1);
  expect(run.stdout).toContain(`Landing was refused: ${refusal(box)}`);
  expect(files(box, "main")).not.toContain("release.txt");
  const { status, error, worktree_path } = await box.issue("one");
  expect([status, error]).toEqual(["failed", "landing_failed"]);
  expect(box.git("-C", worktree_path ?? "", "rev-parse", "--abbrev-ref", "HEAD")).toBe("ratchet/one");
  box.git("merge", "--quiet", "release");
  expect((await box.ratchet("land", "one")).code).toBe(0);
});

test("D5 nor does what is below a tip of another branch that the agent has gone to and amended", async () => {
  const box = await besideRelease(`git reset -q --hard later; ${own.replace("commit", "commit --amend")}`);
  box.git("checkout", "--quiet", "-b", "later", "release");
  commit(box, "later.txt");
  box.git("checkout", "--quiet", "main");
  const run = await box.ratchet("run");
  expect(run.code).toBe(1);
  expect(run.stdout).toMatch(
    /Landing was refused: it was built on [0-9a-f]{12} of (release|later), which main does not have/,
  );
  expect(files(box, "main")).not.toContain("release.txt");
});

test.each([
  ["merged", `${own}; git merge -q --no-edit FETCH_HEAD`],
  ["gone to and amended", `git reset -q --hard FETCH_HEAD; ${own.replace("commit", "commit --amend")}`],
])(
  "D5 what another issue has done, and has not passed, does not land with the one whose agent has %s it",
  async (_, does) => {
    const box = sandbox();
    const takes = `git fetch -q ${join(box.home, "worktrees")}/*/one HEAD; ${does}`;
    const agent = `cat >/dev/null; if [ "$RATCHET_ISSUE_ID" = one ]; then ${goesOn}; git commit -q --allow-empty -m More; else ${takes}; fi`;
    box.configure({
      agent: { type: "command", command: box.script("agent", agent) },
      commands: { check: "test -e x" },
      evidence_check: { required: ["check"] },
      max_gate_retries: 1,
    });
    for (const id of ["one", "two"]) await box.add(id);
    expect((await box.ratchet("run", "one")).code).toBe(1);
    const run = await box.ratchet("run", "two");
    expect(run.code).toBe(1);
    const why =
      /it was built on [0-9a-f]{12} of ratchet\/one, which main does not have: land that first, or start it afresh: `ratchet retry two --afresh`/;
    expect(run.stdout).toMatch(why);
    expect(files(box, "main")).not.toContain("done");
    await box.quick("retry", "two", "--afresh");
    box.script("agent", `cat >/dev/null; ${own}`);
    expect((await box.ratchet("run", "two")).code).toBe(0);
    expect(files(box, "main")).not.toContain("done");
  },
);

test("D5 neither is a branch given to the user that has what the target lacks", async () => {
  const box = await besideRelease(`${own}; git merge -q release -m Merge`, { finalize: { mode: "branch" } });
  const run = await box.ratchet("run");
  expect(run.code).toBe(1);
  expect(run.stdout).toContain(refusal(box));
  expect(box.git("branch", "--list", "ratchet/*")).toBe("");
});

const builtOn =
  /^Landing was refused: it was built on [0-9a-f]{12} of release, which main does not have: run `git merge/;
const rewritten = /^The gate failed: A fixer has rewritten what it was to build on$/;

test.each([
  ["merge", "merged", `${own}; git merge -q release -m Merge`, "landing_failed", builtOn],
  ["merge", "put on", `${own}; git rebase -q release`, "gate_failed", rewritten],
  ["branch", "merged", `${own}; git merge -q release -m Merge`, "landing_failed", builtOn],
])("D5 finalize.mode %s: nor does a repair of the run that its fixer has %s another branch", async (...args) => {
  const [mode, , does, reason, says] = args;
  const mends = { failure_mode: "remediate", max_retries: 1 };
  const run_end = { ...mends, commands: [{ ref: "mended", command: "test -e x" }] };
  const box = await besideRelease(`if [ "$RATCHET_ROLE" = fixer ]; then ${does}; else ${goesOn}; fi`, {
    finalize: { mode },
    validation_triggers: { run_end },
  });
  const { code, stdout } = await box.ratchet("run");
  expect(code).toBe(1);
  expect(stdout).toContain("[trigger] run_end completed: result=fail");
  expect(stdout).toMatch(/What did not land is put aside as refs\/ratchet\/parked\/run-/);
  expect(box.git("branch", "--contains", "release", "--format=%(refname:short)")).toBe("release");
  const { run_end: record } = await box.record();
  expect(record).toMatchObject({ status: "fail", reason, message: expect.stringMatching(says) });
});

const attempt = `git checkout -qb attempt; ${own}; git checkout -q ratchet/one; git merge -q --no-ff -m Take attempt`;

test.each([
  ["a side branch of its own", attempt],
  [
    "one that was made beside the checkout",
    attempt.replace(
      own,
      `git worktree add -q ../x HEAD --detach; (cd ../x; ${own}; git rev-parse HEAD >"$HOME/x"); git reset -q --hard $(cat "$HOME/x")`,
    ),
  ],
])(
  "D5 what the agent has merged of %s is the issue's, also on a branch that a person made from it",
  async (_, does) => {
    const box = await besideRelease(does, { finalize: { mode: "branch" } });
    expect((await box.ratchet("run")).code).toBe(0);
    box.git("branch", "try-it", "ratchet/one");
    expect((await box.ratchet("land", "one")).code).toBe(0);
    expect(files(box, "main")).toContain("x");
  },
);

test("D5 a resume goes on with what the agent has merged by itself and a person has fetched", async () => {
  const box = await besideRelease(`${attempt}; exit 9`);
  expect((await box.ratchet("run")).code).toBe(1);
  const { worktree_path } = await box.issue("one");
  box.git("fetch", "--quiet", worktree_path ?? "", "ratchet/one:try-it", "attempt:only-the-side");
  box.put("go", "");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  for (const file of ["x", "done"]) expect(files(box, "main")).toContain(file);
});

test("D5 a correction that a person made from the work and merged into its branch lands with it", async () => {
  const box = await besideRelease(`${own}; ${goesOn}`, { finalize: { mode: "branch" } });
  expect((await box.ratchet("run")).code).toBe(0);
  box.git("checkout", "--quiet", "-b", "fix", "ratchet/one~1");
  commit(box, "fix.txt");
  box.git("checkout", "--quiet", "ratchet/one");
  box.git("merge", "--quiet", "--no-ff", "--message", "Take the correction", "fix");
  box.git("checkout", "--quiet", "main");
  expect((await box.ratchet("land", "one")).code).toBe(0);
  for (const file of ["x", "done", "fix.txt"]) expect(files(box, "main")).toContain(file);
});

test("D5 what was merged of another branch counts, whatever a person has made from the work since", async () => {
  const box = await besideRelease(own, { finalize: { mode: "branch" } });
  expect((await box.ratchet("run")).code).toBe(0);
  box.git("checkout", "--quiet", "ratchet/one");
  box.git("merge", "--quiet", "--message", "Take release", "release");
  box.git("checkout", "--quiet", "-b", "fix");
  commit(box, "fix.txt");
  box.git("checkout", "--quiet", "ratchet/one");
  box.git("merge", "--quiet", "--no-ff", "--message", "Take the correction", "fix");
  box.git("checkout", "--quiet", "main");
  const landed = await box.ratchet("land", "one");
  expect(landed.code).toBe(1);
  expect(landed.stdout).toContain(refusal(box));
});

test("D5 work that a person has fetched into a branch of their own is the issue's all the same", async () => {
  const box = await begunOnMain(half);
  const { worktree_path } = await box.issue("one");
  box.git("fetch", "--quiet", worktree_path ?? "", "HEAD:to-look-at");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(files(box, "main")).toContain("half.txt");
});

test("D5 work that went on from what a person made of it is the issue's all the same", async () => {
  const box = await begunOnMain(`${half}; git reset -q --hard HEAD^; git reset -q --hard ORIG_HEAD`);
  const { worktree_path } = await box.issue("one");
  const worktree = worktree_path ?? "";
  box.git("fetch", "--quiet", worktree, "HEAD:help");
  box.git("checkout", "--quiet", "help");
  box.write("help.txt", "by a person\n");
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", "Help");
  box.git("checkout", "--quiet", "main");
  box.git("-C", worktree, "pull", "--quiet", "--ff-only", box.dir, "help");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  for (const file of ["half.txt", "help.txt"]) expect(files(box, "main")).toContain(file);
});

test("D5 work begun on one branch lands on another that has all of it", async () => {
  const box = await begunOnMain(half);
  box.git("checkout", "--quiet", "release");
  box.git("merge", "--quiet", "--ff-only", "main");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(files(box, "release")).toContain("half.txt");
  expect(files(box, "main")).not.toContain("half.txt");
});

test("D5 a commit that only got another message holds nothing up", async () => {
  const box = await begunOnMain(half);
  box.git("commit", "--quiet", "--amend", "--message", "Unreleased, in better words");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(files(box, "main")).toContain("half.txt");
});

test("B3 ISSUE_ALREADY_COMPLETE may name a commit that a person has made since the run began", async () => {
  const box = sandbox();
  const agent = `
cat >/dev/null
cd ${box.dir} && echo x >by-hand && git add by-hand && git commit -q -m "By hand" || exit 1
echo "ISSUE_ALREADY_COMPLETE: $(git rev-parse HEAD) has it"
`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await box.add("one");
  const run = await box.ratchet("run", "--json");
  expect(run.code).toBe(0);
  expect(eventsOf(run).filter(({ type }) => type === "prompt-sent")).toHaveLength(1);
  expect((await box.issue("one")).resolution).toMatchObject({ outcome: "ALREADY_COMPLETE" });
});

test("an issue may be called as a file of the run's is", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent", "echo x >x; git add x; git commit -qm x") } });
  await box.add("run.log");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(await box.status("run.log")).toBe("completed");
  expect((await box.ratchet("logs", "prompt", "last", "run.log")).stdout).toContain("run.log");
});
