import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ended, type Sandbox, until } from "./sandbox.js";
import { isWaitedFor, triggerBox, triggerLines, waitFor } from "./trigger-world.js";

/** With finalize.mode branch: what fixers of the run commit is on its branch in the user's repository, until they merge it. */
const remediate = { failure_mode: "remediate", max_retries: 1 };
const mends = 'if [ "$RATCHET_ROLE" = fixer ]; then echo mended >"$RATCHET_STAGE_ID.mended"; fi';

/** `periodic` and `run_end` each lack a file that their fixer makes. */
function givenBox(agent = mends, max_agents = 1): Sandbox {
  return triggerBox({
    commands: { one: "test -e periodic.mended", two: "test -e run_end.mended" },
    triggers: {
      periodic: { ...remediate, interval: 1, commands: ["one"] },
      run_end: { ...remediate, fire_on: "both", commands: ["two"] },
    },
    agent,
    more: { finalize: { mode: "branch" }, max_agents },
  });
}

const branchOf = ({ stdout }: Pick<Ended, "stdout">) => `ratchet/run-${/^run (\S+) started/m.exec(stdout)?.[1]}`;
const resultsOf = (run: Ended) =>
  triggerLines(run).flatMap((line) => /\] (\w+) completed.*(result=\w+)/.exec(line)?.slice(1).join(" ") ?? []);
const filesOf = (box: Sandbox, branch: string) => box.git("ls-tree", "--name-only", branch).split("\n");

test("repairs of a run build on each other: its branch has them all, and none is told as not landed, or parked", async () => {
  const box = givenBox();
  for (const id of ["a", "b"]) await box.add(id);
  const run = await box.ratchet("run");
  expect([run.code, resultsOf(run)]).toEqual([
    0,
    ["periodic result=pass", "periodic result=pass", "run_end result=pass"],
  ]);
  expect(filesOf(box, branchOf(run))).toEqual(expect.arrayContaining(["periodic.mended", "run_end.mended"]));
  // The second periodic has found it mended.
  expect(box.git("log", "--format=%s", `main..${branchOf(run)}`)).toBe("fixer for the run\nfixer for the run");
  expect(run.stdout).not.toContain("put aside");
  expect(await box.quick("worktree", "list")).not.toContain("run-");
});

test("a repair that drops what the run has given before does not pass its gate, and the branch keeps it", async () => {
  const box = givenBox(`${mends}; [ "$RATCHET_STAGE_ID" != run_end ] || git reset --quiet --soft main`);
  await box.add("a");
  const run = await box.ratchet("run");
  expect([run.code, resultsOf(run)]).toEqual([1, ["periodic result=pass", "run_end result=fail"]]);
  expect(filesOf(box, branchOf(run))).toContain("periodic.mended");
  expect(filesOf(box, branchOf(run))).not.toContain("run_end.mended");
  expect(run.stdout).toMatch(/What did not land is put aside as refs\/ratchet\/parked\/run-/);
  const message = "The gate failed: A fixer has rewritten what it was to build on";
  expect(run.stdout).toContain(`run: run_end failed: ${message}`);
});

test("a repair that lacks what a person has put on the run's branch meanwhile is refused, and the branch keeps it", async () => {
  const theirs = `cd "$HOME/shop"; there=refs/heads/ratchet/run-$RATCHET_RUN_ID
git update-ref "$there" "$(git commit-tree -p "$there" -m theirs "$there^{tree}")"`;
  const box = givenBox(`${mends}; [ "$RATCHET_ROLE $RATCHET_STAGE_ID" != "fixer run_end" ] || (${theirs})`);
  await box.add("a");
  const run = await box.ratchet("run");
  expect([run.code, resultsOf(run)]).toEqual([1, ["periodic result=pass", "run_end result=fail"]]);
  expect(filesOf(box, branchOf(run))).toContain("periodic.mended");
  expect(filesOf(box, branchOf(run))).not.toContain("run_end.mended");
  const given = box.git("rev-parse", branchOf(run)).slice(0, 12);
  const message = `Landing was refused: it lacks ${given}, which ${branchOf(run)} in ${box.dir} has: only what is built on that can follow it`;
  expect(run.stdout).toContain(`run: run_end failed: ${message}`);
  expect((await box.record()).run_end).toMatchObject({ status: "fail", reason: "landing_failed", message });
  expect(await box.quick("logs", "show", "last")).toContain(`run_end · fail · landing_failed: ${message}`);
});

test("a run's branch that is checked out is not moved: the repair that cannot be given says where that is", async () => {
  const box = givenBox(
    `${mends}; [ "$RATCHET_STAGE_ID" != run_end ] || git -C "$HOME/shop" worktree add --quiet "$HOME/held" "ratchet/run-$RATCHET_RUN_ID"`,
  );
  await box.add("a");
  const run = await box.ratchet("run");
  expect([run.code, resultsOf(run)]).toEqual([1, ["periodic result=pass", "run_end result=fail"]]);
  const why = `${branchOf(run)} in ${box.dir} could not be moved: it is checked out in ${join(box.root, "held")}: check out another branch there\n`;
  expect(run.stdout).toContain(`run: run_end failed: Landing was refused: ${why}`);
});

test("what a person adds to the run's branch and to the target between two triggers is in the later repair", async () => {
  const box = givenBox(`${mends}; [ "$RATCHET_ISSUE_ID" != b ] || { ${waitFor("go")}; }`, 2);
  for (const id of ["a", "b"]) await box.add(id);
  const run = box.start(["run"]);
  await until(
    "the first repair is given, and the next issue is under way",
    () => isWaitedFor(box, "go") && run.stdout().includes("periodic completed"),
  );
  const branch = branchOf({ stdout: run.stdout() });
  for (const [name, file] of [
    [branch, "theirs.txt"],
    ["main", "mains.txt"],
  ] as const) {
    box.git("checkout", "--quiet", name);
    box.write(file, "by a person\n");
    box.git("add", "--all");
    box.git("commit", "--quiet", "--message", `Add ${file}`);
  }
  box.put("go", "");
  const ended = await run.ended;
  expect([ended.code, resultsOf(ended)]).toEqual([0, expect.arrayContaining(["run_end result=pass"])]);
  const all = ["periodic.mended", "run_end.mended", "theirs.txt", "mains.txt"];
  expect(filesOf(box, branch)).toEqual(expect.arrayContaining(all));
});
