import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Sandbox, until } from "./sandbox.js";
import { failWith, isWaitedFor, ownReview, pass, putOwnReview, ran, triggerBox, waitFor } from "./trigger-world.js";

/** What fixers of the run commit adds run.txt; where that cannot land, the branch is as it was before them. */
const mended = `if [ -e run.txt ] || [ "$RATCHET_STAGE_ID" = epic_verification ]; then ${pass}; else ${failWith("Wrong", 0)}; fi`;
const remediate = { failure_mode: "remediate", max_retries: 1 };
const code_review = ownReview({ ...remediate, baseline: "since_last_review" });

function reviewedBox(gate: string, triggers: object = { run_end: { commands: [], code_review } }): Sandbox {
  const more = { evidence_check: { required: ["gate"] } };
  const box = triggerBox({ commands: { gate }, triggers, more });
  putOwnReview(box, mended);
  return box;
}
async function findings(box: Sandbox): Promise<string[]> {
  const all: { title: string; status: string }[] = JSON.parse(await box.quick("findings", "--all", "--json"));
  return all.map(({ title, status }) => `${title}: ${status}`);
}
const basesOf = (box: Sandbox, name: string) =>
  ran(box).flatMap((line) => (line.startsWith(`review run ${name} `) ? [line.split(" ")[3]] : []));

test.each(["run_end", "periodic", "epic_completion"] as const)(
  "%s: a repair that fails the gate has repaired nothing: its finding is open, and the next review looks there again",
  async (name) => {
    const how = { run_end: {}, periodic: { interval: 1 }, epic_completion: { epic_depth: "all" } }[name];
    const box = reviewedBox("test ! -e run.txt", { [name]: { ...how, commands: [], code_review } });
    await box.add("epic", { more: ["--type", "epic"] });
    await box.add("a", { more: ["--parent", "epic"] });
    const start = box.git("rev-parse", "main");
    expect((await box.ratchet("run")).code).toBe(1);
    expect((await findings(box)).filter((one) => one.endsWith("open"))).toEqual(["Wrong: open"]);
    await box.add("other", { more: ["--type", "epic"] });
    await box.add("b", { more: ["--parent", "other"] });
    expect((await box.ratchet("run")).code).toBe(1);
    expect(new Set(basesOf(box, name))).toEqual(new Set([start]));
    expect((await findings(box)).sort()).toEqual(expect.arrayContaining(["Wrong: open", "Wrong: superseded"]));
  },
);

test("a repair whose gate a stop cuts short has repaired nothing either", async () => {
  const box = reviewedBox(`test ! -e run.txt || { ${waitFor("go")}; }`);
  await box.add("a");
  const run = box.start(["run"]);
  await until("the gate of the repair runs", () => isWaitedFor(box, "go"));
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(130);
  expect(await findings(box)).toEqual(["Wrong: open"]);
});

test("killed in that gate, the run goes on with it: the repair lands and has repaired", async () => {
  const box = reviewedBox(`test ! -e run.txt || { ${waitFor("go")}; }`);
  await box.add("a");
  const run = box.start(["run"]);
  await until("the gate of the repair runs", () => isWaitedFor(box, "go"));
  run.kill("SIGKILL");
  await run.ended;
  box.put("go", "");
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await findings(box), box.git("log", "-1", "--format=%s", "main")]).toEqual([
    ["Wrong: resolved"],
    "fixer for the run",
  ]);
});

test.each([
  ["amended", "git rm --quiet a.txt && git commit --quiet --amend --allow-empty --no-edit"],
  [
    "left out",
    'git reset --quiet --hard HEAD^ && echo b >b.txt && git add b.txt && git commit --quiet --message "b alone"',
  ],
  ["put the branch back to before", "git reset --quiet --hard HEAD^"],
])(
  "a fixer that has %s what landed has repaired nothing: what it took out would come back with the merge",
  async (...how) => {
    const isRepaired = "test ! -e a.txt";
    const run_end = { ...remediate, commands: ["one"], code_review };
    const agent = `if [ "$RATCHET_ROLE" = fixer ]; then cat >/dev/null; ${how[1]}; exit; fi`;
    const box = triggerBox({ commands: { one: isRepaired }, triggers: { run_end }, agent });
    putOwnReview(box, `if ${isRepaired}; then ${pass}; else ${failWith("Wrong", 0)}; fi`);
    await box.add("a");
    const { code } = await box.ratchet("run");
    const message = expect.stringMatching(/^The gate failed: .*A fixer has rewritten what it was to build on$/);
    expect([code, (await box.record()).run_end]).toEqual([
      1,
      expect.objectContaining({ status: "fail", reason: "gate_failed", message }),
    ]);
    const open = (await findings(box)).filter((one) => one.endsWith("open"));
    expect([open, box.git("log", "--format=%s", "main")]).toEqual([
      ["one failed: exit 1: (no output): open"],
      "implementer for a\nThe beginning",
    ]);
  },
);

test("a command that passes on a repair that cannot land closes nothing of earlier runs", async () => {
  const commands = { gate: 'test ! -e run.txt || test -e "$HOME/lenient"', one: "test -e run.txt" };
  const run_end = { ...remediate, commands: ["one"] };
  const box = triggerBox({ commands, triggers: { run_end }, more: { evidence_check: { required: ["gate"] } } });
  const failed = async () => (await findings(box)).filter((one) => one.startsWith("one failed"));
  for (const id of ["a", "b"]) {
    await box.add(id);
    expect((await box.ratchet("run")).code).toBe(1);
    expect((await failed()).filter((one) => one.endsWith("open"))).toEqual(["one failed: exit 1: (no output): open"]);
  }
  box.put("lenient", "");
  await box.add("c");
  expect((await box.ratchet("run")).code).toBe(0);
  expect((await failed()).filter((one) => one.endsWith("open"))).toEqual([]);
});

test("a command that fails on a repair that cannot land alone is open where it failed without it", async () => {
  const one = 'test -e run.txt || ! test -e "$HOME/second"';
  const run_end = { ...remediate, commands: ["one", "two"] };
  const commands = { gate: "test ! -e run.txt", one, two: "exit 1" };
  const box = triggerBox({ commands, triggers: { run_end }, more: { evidence_check: { required: ["gate"] } } });
  const failed = async () => {
    const all: { title: string; status: string; run_id: string }[] = JSON.parse(
      await box.quick("findings", "--all", "--json"),
    );
    const runs = [...new Set(all.map(({ run_id }) => run_id))];
    const told = all.filter(({ title }) => !title.startsWith("gate"));
    return told.map(({ title, status, run_id }) => [title.split(" ")[0], runs.indexOf(run_id), status]);
  };
  await box.add("a");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await failed()).toEqual([["two", 0, "open"]]);
  box.put("second", "");
  await box.add("b");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await failed()).toEqual([
    ["two", 0, "open"],
    ["one", 1, "open"],
    ["two", 1, "superseded"],
  ]);
});

test("what is parked of a trigger is no later trigger's to work on, nor what an epic is verified with", async () => {
  const seen = (name: string) => `git log --format=%s >"$HOME/${name}"`;
  const commands = { gate: "test ! -e run.txt", one: "test -e run.txt", two: seen("run_end") };
  const periodic = { ...remediate, interval: 1, commands: ["one"] };
  const run_end = { commands: ["two"], code_review: ownReview() };
  const more = { evidence_check: { required: ["gate"] }, max_agents: 1 };
  const box = triggerBox({ commands, triggers: { periodic, run_end }, more });
  putOwnReview(box, `${seen("$RATCHET_STAGE_ID-review")}; ${pass}`);
  await box.add("epic", { more: ["--type", "epic"] });
  await box.add("a", { more: ["--parent", "epic"] });
  await box.add("b", { more: ["--parent", "epic", "--dep", "a"] });
  const { code, stdout } = await box.ratchet("run");
  expect([code, box.git("log", "--format=%s", "main")]).toEqual([1, expect.not.stringContaining("fixer")]);
  for (const name of ["run_end", "run_end-review", "epic_verification-review"])
    expect([name, readFileSync(join(box.root, name), "utf8")]).toEqual([
      name,
      expect.not.stringContaining("fixer for the run"),
    ]);
  expect(stdout).toContain("[trigger] epic_verification completed: epic_id=epic, result=pass");
  expect(stdout).toContain("[trigger] run_end completed: result=pass");
  const parked = [...stdout.matchAll(/put aside as (\S+);/g)].map(([, ref]) => ref);
  const [, run] = /^run (\S+) started/m.exec(stdout) ?? [];
  expect(parked).toEqual([1, 2].map((n) => `refs/ratchet/parked/run-${run}/${n}`));
});

test("what a removal that was cut short left of a trigger is put aside before the next one begins", async () => {
  const box = triggerBox({
    commands: { one: 'git log --format=%s >"$HOME/seen"' },
    triggers: { run_end: { commands: ["one"] } },
    agent: 'sh "$HOME/leave.sh" "$RATCHET_RUN_ID"',
  });
  // The commits are on the run's branch, their worktree is gone.
  box.put(
    "leave.sh",
    `cd ${box.home}/repos/*.git || exit 1
    base=$(git rev-parse refs/user/heads/main)
    left=$(git -c user.name=a -c user.email=a@b.c commit-tree "$base^{tree}" -p "$base" -m stray)
    git update-ref "refs/heads/ratchet/run-$1" "$left"; git update-ref "refs/ratchet/base/ratchet/run-$1" "$base"\n`,
  );
  await box.add("a");
  const { code, stdout } = await box.ratchet("run");
  const [, run] = /^run (\S+) started/m.exec(stdout) ?? [];
  expect([code, readFileSync(join(box.root, "seen"), "utf8")]).toEqual([0, "implementer for a\nThe beginning\n"]);
  expect(stdout).toContain(`run: What did not land is put aside as refs/ratchet/parked/run-${run}/1`);
});

test("a branch that a trigger's command has made is not told as a repair that did not land", async () => {
  const box = triggerBox({
    commands: {
      one: "git checkout --quiet -b stray && echo x >stray.txt && git add --all && git commit --quiet -m stray",
    },
    triggers: { run_end: { commands: ["one"] } },
  });
  await box.add("a");
  const { code, stdout } = await box.ratchet("run");
  const [, run] = /^run (\S+) started/m.exec(stdout) ?? [];
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining(`What else the worktree had is put aside as refs/ratchet/parked/run-${run}/`),
  ]);
  expect(stdout).not.toContain("did not land");
});
