import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, type Sandbox, sandbox, until } from "./sandbox.js";

/** Leaves a file that the gate rejects while it says "bad", and writes down that it was asked. */
const agent = `
cat >/dev/null
echo "$RATCHET_ROLE" >>"$HOME/asked"
echo "bad $RATCHET_ATTEMPT" >"$RATCHET_ISSUE_ID.txt"
echo '{"usage": {"input_tokens": 1, "output_tokens": 1}}' >"$RATCHET_RESULT_FILE"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;
const reviewer = `
cat >/dev/null
echo "$RATCHET_ROLE" >>"$HOME/asked"
if grep -q good "$HOME/opinion"; then echo '{"verdict": "pass", "findings": []}'
else echo '{"verdict": "fail", "findings": [{"file": "a", "line_start": 1, "line_end": 1, "priority": 0, "title": "No", "body": ""}]}'; fi
`;

function world(config: object = {}): Sandbox {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    commands: { check: "! grep -q bad *.txt" },
    evidence_check: { required: ["check"] },
    ...config,
  });
  box.put("opinion", "bad\n");
  box.put("asked", "");
  return box;
}
const asked = (box: Sandbox) => readFileSync(join(box.root, "asked"), "utf8");

/** What a person does by hand in the issue's worktree. */
async function repair(box: Sandbox, id: string, commit = true): Promise<void> {
  const { worktree_path } = await box.issue(id);
  const folder = worktree_path ?? "";
  writeFileSync(join(folder, `${id}.txt`), "fine\n");
  if (!commit) return;
  const as = ["-c", "user.name=A Person", "-c", "user.email=person@localhost"];
  execFileSync("git", [...as, "commit", "--quiet", "--all", "--message", "By hand"], { cwd: folder, env: box.env });
}

test("land after a failure: refused by the gate until it is repaired by hand, then merged, and no agent is asked", async () => {
  const box = world();
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.status("one")).toBe("failed");
  const before = asked(box);
  const refused = await box.ratchet("land", "one");
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain("check failed");
  // What came to nothing is no failure of the issue's: it is as it was.
  const shown = JSON.parse(await box.quick("work", "show", "one", "--json"));
  expect(shown).toMatchObject({
    status: "failed",
    failure_count: 1,
    failure_reason: expect.stringContaining("gate_failed"),
  });
  await repair(box, "one", false);
  expect((await box.ratchet("land", "one")).stdout).toContain("Uncommitted changes");
  await repair(box, "one");
  const landed = await box.ratchet("land", "one", "--json");
  expect(landed.code).toBe(0);
  expect(eventsOf(landed).map(({ type }) => type)).toContain("landed");
  expect(await box.status("one")).toBe("completed");
  expect(box.git("show", "main:one.txt")).toBe("fine");
  expect(asked(box)).toBe(before);
  const again = await box.ratchet("land", "one");
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("one has no work that could land")]);
});

test("a refused landing leaves every finding as it was, one that a person has waived too", async () => {
  const box = world();
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  const findings = () => box.quick("findings", "one", "--all", "--json");
  const open = await findings();
  expect((await box.ratchet("land", "one")).code).toBe(1);
  expect(await findings()).toBe(open);
  const [{ id }] = JSON.parse(open);
  await box.quick("findings", "waive", id, "--reason", "flaky, known");
  const waived = await findings();
  const refused = await box.ratchet("land", "one");
  expect([refused.code, refused.stdout]).toEqual([
    1,
    expect.stringContaining("Found again, and it stays waived: check"),
  ]);
  expect(await findings()).toBe(waived);
  expect(JSON.parse(waived)).toMatchObject([{ status: "waived", reason: "flaky, known" }]);
});

test("of two that land an issue at once the second says so, or that it has landed, and nothing fails", async () => {
  const box = world();
  const hold = join(box.root, "hold");
  const check = `while [ -e ${hold} ]; do sleep 0.05; done; ! grep -q bad *.txt`;
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), commands: { check } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  await repair(box, "one");
  box.put("hold", "");
  const first = box.start(["land", "one"]);
  await until("it is at the gate", () => first.stdout().includes("gate started"));
  const second = await box.ratchet("land", "one", "--json");
  expect([second.code, JSON.parse(second.stdout).error]).toMatchObject([1, { code: "landing" }]);
  const third = box.start(["land", "one"]);
  rmSync(hold);
  expect((await first.ended).code).toBe(0);
  expect((await third.ended).stderr).toMatch(/one (has no work that could land: it is completed|is being landed)/);
  expect(await box.status("one")).toBe("completed");
});

test.each([
  ["is completed", false],
  ["is left to the verification of the next run where there is a reviewer", true],
])("land of the last issue of an epic: the epic %s", async (_what, enabled) => {
  const box = world();
  const command = box.script("review.sh", reviewer);
  await box.add("epic", { more: ["--type", "epic"] });
  await box.add("one", { more: ["--parent", "epic"] });
  expect((await box.ratchet("run")).code).toBe(1);
  await repair(box, "one");
  const config = JSON.parse(box.read("ratchet.yaml"));
  box.configure({ ...config, per_issue_review: { enabled, reviewer_type: "command", command } });
  box.put("opinion", "good\n");
  expect((await box.ratchet("land", "one")).code).toBe(0);
  expect([await box.status("epic"), asked(box).includes("reviewer")]).toEqual([
    enabled ? "available" : "completed",
    false,
  ]);
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await box.status("epic"), asked(box).includes("reviewer")]).toEqual(["completed", enabled]);
});

test("land after an escalation: while it is refused the item still waits for a person", async () => {
  const box = world({ budgets: { issue: { tokens: 2 } } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.status("one")).toBe("waiting_for_response");
  const before = JSON.parse(await box.quick("work", "show", "one", "--json"));
  expect((await box.ratchet("land", "one")).code).toBe(1);
  const { failure_reason, failure_count } = before;
  const shown = JSON.parse(await box.quick("work", "show", "one", "--json"));
  expect(shown).toMatchObject({ status: "waiting_for_response", failure_reason, failure_count });
  expect(shown.payload).toMatchObject({ human_review_required: true });
  await repair(box, "one");
  expect((await box.ratchet("land", "one")).code).toBe(0);
  expect([await box.status("one"), box.git("show", "main:one.txt")]).toEqual(["completed", "fine"]);
  const { payload } = JSON.parse(await box.quick("work", "show", "one", "--json"));
  expect(payload).toMatchObject({ human_review_required: false });
});

test("land in mode branch merges the branch as it is in the user's repository, the user's own commits included", async () => {
  const box = world({ commands: {}, evidence_check: { required: [] }, finalize: { mode: "branch" } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(box.git("log", "--format=%s", "main")).toBe("The beginning");
  box.git("checkout", "--quiet", "ratchet/one");
  appendFileSync(join(box.dir, "one.txt"), "and mine\n");
  box.git("commit", "--quiet", "--all", "--message", "Mine");
  box.git("checkout", "--quiet", "main");
  const landed = await box.ratchet("land", "one");
  expect(landed.code).toBe(0);
  expect(box.git("show", "main:one.txt")).toBe("bad 1\nand mine");
  expect(await box.status("one")).toBe("completed");
  expect((await box.ratchet("land", "one")).stderr).toContain("one has landed on main already");
  // The copy that was parked with the branch has landed with it.
  expect(JSON.parse(await box.quick("worktree", "list", "--json"))).toEqual([]);
});

test("a branch that is checked out is not moved in mode branch: it says where, and what to do, which works", async () => {
  const box = world({ commands: {}, evidence_check: { required: [] }, finalize: { mode: "branch" } });
  const held = join(box.root, "held");
  box.git("worktree", "add", "--quiet", "-b", "ratchet/one", held);
  await box.add("one");
  const run = await box.ratchet("run");
  const why = `ratchet/one in ${box.dir} could not be moved: it is checked out in ${held}`;
  const way = "check out another branch there, then `ratchet run --resume --check-only one`";
  expect([run.code, run.stdout]).toEqual([1, expect.stringContaining(`Landing was refused: ${why}: ${way}\n`)]);
  box.git("-C", held, "checkout", "--quiet", "--detach");
  expect((await box.ratchet("run", "--resume", "--check-only", "one")).code).toBe(0);
  expect([box.git("show", "ratchet/one:one.txt"), asked(box)]).toEqual(["bad 1", "implementer\n"]);
});

test("diff and land in mode branch find the branch that was given where the mirror is gone", async () => {
  const box = world({ commands: {}, evidence_check: { required: [] }, finalize: { mode: "branch" } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  const shown = await box.quick("diff", "one");
  for (const name of ["repos", "worktrees"]) rmSync(join(box.home, name), { recursive: true });
  expect(await box.quick("diff", "one")).toBe(shown);
  rmSync(join(box.home, "repos"), { recursive: true });
  expect((await box.ratchet("land", "one")).code).toBe(0);
  expect(box.git("show", "main:one.txt")).toBe("bad 1");
  expect((await box.ratchet("land", "one")).stderr).toContain("one has landed on main already");
});

test("land in mode branch from where the work is already says so, and the branch can land where it is not", async () => {
  const box = world({ commands: {}, evidence_check: { required: [] }, finalize: { mode: "branch" } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  const begun = box.git("rev-parse", "main");
  box.git("checkout", "--quiet", "ratchet/one");
  box.git("commit", "--quiet", "--allow-empty", "--message", "Mine");
  const own = await box.ratchet("land", "one");
  expect([own.code, own.stderr]).toEqual([1, expect.stringContaining("you are on ratchet/one, the branch of one")]);
  box.git("checkout", "--quiet", "-b", "review");
  const there = await box.ratchet("land", "one");
  expect([there.code, there.stderr]).toEqual([1, expect.stringContaining("one has landed on review already")]);
  box.git("checkout", "--quiet", "main");
  box.git("merge", "--quiet", "ratchet/one");
  expect((await box.ratchet("land", "one")).stderr).toContain("one has landed on main already");
  box.git("reset", "--quiet", "--hard", begun);
  expect((await box.ratchet("land", "one")).code).toBe(0);
  expect(box.git("log", "--format=%s", "main").split("\n")[0]).toBe("Mine");
  expect((await box.issue("one")).base_sha).toBe(begun);
});

test("land in mode branch that cannot take what was added to the branch since says why, and overwrites nothing", async () => {
  const check = { command: "test ! -f unwanted" };
  const box = world({ commands: { check }, evidence_check: { required: ["check"] }, finalize: { mode: "branch" } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  box.git("checkout", "--quiet", "ratchet/one");
  for (const [name, text] of Object.entries({ unwanted: "", ".gitignore": "*.local\n" })) box.write(name, text);
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", "Mine");
  box.git("checkout", "--quiet", "main");
  expect((await box.ratchet("land", "one")).code).toBe(1);
  const kept = join((await box.issue("one")).worktree_path ?? "", "my.local");
  writeFileSync(kept, "the only one\n");
  box.git("checkout", "--quiet", "ratchet/one");
  box.write("my.local", "another\n");
  box.git("add", "--force", "my.local");
  box.git("rm", "--quiet", "unwanted");
  box.git("commit", "--quiet", "--message", "Mine, too");
  box.git("checkout", "--quiet", "main");
  const refused = await box.ratchet("land", "one");
  expect([refused.code, readFileSync(kept, "utf8")]).toEqual([1, "the only one\n"]);
  expect(refused.stdout).toContain(
    "what was added to ratchet/one cannot be taken up: untracked my.local would be overwritten",
  );
  rmSync(kept);
  expect((await box.ratchet("land", "one")).code).toBe(0);
  expect(box.git("show", "main:my.local")).toBe("another");
});

test("land in mode branch that was refused takes what was added to the branch since", async () => {
  const check = { command: "test ! -f unwanted" };
  const box = world({ commands: { check }, evidence_check: { required: ["check"] }, finalize: { mode: "branch" } });
  const onBranch = (...change: readonly [string, ...string[]][]) => {
    box.git("checkout", "--quiet", "ratchet/one");
    for (const args of [...change, ["commit", "--quiet", "--message", "Mine"]]) box.git(...args);
    box.git("checkout", "--quiet", "main");
  };
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  appendFileSync(join(box.dir, "unwanted"), "");
  onBranch(["add", "unwanted"]);
  expect((await box.ratchet("land", "one")).code).toBe(1);
  onBranch(["rm", "--quiet", "unwanted"]);
  expect((await box.ratchet("land", "one")).code).toBe(0);
  expect(box.git("log", "--format=%s", "main").split("\n").slice(0, 2)).toEqual(["Mine", "Mine"]);
});

test("an issue waits until the branch that it depends on is merged, by land or by hand, whatever the mode is by then", async () => {
  const box = world({ commands: {}, evidence_check: { required: [] }, finalize: { mode: "branch" } });
  await box.add("one");
  await box.add("two", { more: ["--dep", "one"] });
  await box.add("three", { more: ["--dep", "two"] });
  expect((await box.ratchet("run", "--dry-run")).stdout).toBe("one\n");
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await box.status("one"), await box.status("two")]).toEqual(["completed", "available"]);
  expect(JSON.parse(await box.quick("explain", "two", "--json"))).toMatchObject({
    reason: "one is on ratchet/one and not merged yet",
    blockers: ["one"],
    next: "ratchet land one",
  });
  expect((await box.ratchet("land", "one")).code).toBe(0);
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await box.status("two"), await box.status("three")]).toEqual(["completed", "available"]);
  expect(box.git("ls-tree", "--name-only", "ratchet/two")).toContain("one.txt");
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), finalize: { mode: "merge" } });
  expect((await box.ratchet("run", "--dry-run")).stdout).toBe("");
  const waits = "nothing is ready: three waits for ratchet/two, which is not merged yet (ratchet land two)\n";
  expect(await box.ratchet("run")).toMatchObject({ code: 0, stderr: waits });
  expect(await box.status("three")).toBe("available");
  box.git("merge", "--quiet", "ratchet/two");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(box.git("ls-tree", "--name-only", "main")).toMatch(/three.txt\ntwo.txt/);
});

test.each([
  [["land", "nobody"], "no issue nobody"],
  [["land", "fresh"], "fresh has no work that could land"],
  [["land", "later"], "later builds on fresh, which has not landed"],
  [["land", "whole"], "whole is an epic"],
])("%j is refused: %s", async (args, message) => {
  const box = world();
  await box.add("fresh");
  await box.add("later", { more: ["--dep", "fresh"] });
  await box.add("whole", { more: ["--type", "epic"] });
  const refused = await box.ratchet(...args);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(message)]);
});

test("run --resume --check-only gates and reviews what a person repaired; it starts no agent and takes nothing new", async () => {
  const box = world();
  const command = box.script("review.sh", reviewer);
  box.configure({
    ...JSON.parse(box.read("ratchet.yaml")),
    per_issue_review: { enabled: true, reviewer_type: "command", command },
  });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  await box.add("new");
  const before = asked(box);
  expect((await box.ratchet("run", "--resume", "--check-only")).code).toBe(1);
  expect(asked(box)).toBe(before);
  await repair(box, "one");
  expect((await box.ratchet("run", "--resume", "--check-only")).code).toBe(1);
  expect(await box.issue("one")).toMatchObject({ status: "failed", error: "review_failed", review_attempts: 1 });
  box.put("opinion", "good\n");
  expect((await box.ratchet("run", "--resume", "--check-only")).code).toBe(0);
  expect(asked(box)).toBe(`${before}reviewer\nreviewer\n`);
  expect([await box.status("one"), await box.status("new")]).toEqual(["completed", "available"]);
  expect(box.git("show", "main:one.txt")).toBe("fine");
  await box.add("later", { more: ["--dep", "new"] });
  expect(await box.ratchet("run", "--resume", "--check-only")).toMatchObject({
    code: 0,
    stderr:
      "nothing is ready: 1 that nobody has worked on yet (ratchet run --resume), 1 not ready yet (ratchet explain <id>)\n",
  });
});

test("--check-only without --resume, or with --fresh, is a usage error", async () => {
  const box = world();
  expect((await box.ratchet("run", "--check-only")).code).toBe(2);
  expect((await box.ratchet("run", "--resume", "--check-only", "--fresh")).code).toBe(2);
});
