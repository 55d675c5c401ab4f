import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, program, type Sandbox, sandbox, until } from "./sandbox.js";

const commits = 'echo "$RATCHET_ISSUE_ID" > "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did it"\n';

/** An agent that does its work; while `wait` exists it waits before. */
function useAgent(box: Sandbox, text = commits, more: Readonly<Record<string, unknown>> = {}): void {
  const wait = join(box.root, "wait");
  box.configure({
    agent: { type: "command", command: box.script("agent", `while [ -e ${wait} ]; do sleep 0.05; done\n${text}`) },
    ...more,
  });
}

function runLog({ home }: Sandbox): string[] {
  const [run = ""] = readdirSync(join(home, "runs"));
  return readFileSync(join(home, "runs", run, "run.log"), "utf8")
    .trimEnd()
    .split("\n");
}

test("a run prints one line per event, and run.log has the same lines with time and level", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("one");
  const { code, stdout, stderr } = await box.ratchet("run");
  expect([code, stderr]).toEqual([0, ""]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toContain("[trigger] session_end skipped: issue_id=one, reason=not_configured");
  expect(lines.at(-1)).toMatch(/^run \S+ succeeded: 1 of 1 issue succeeded, exit code 0$/);
  const log = runLog(box).map((line) => /^\d{4}-\d\d-\d\dT[\d:.]+Z (info|warn|error) (.*)$/.exec(line)?.[2]);
  expect(log).toEqual(lines);
  expect(box.read("one.txt")).toBe("one\n");
});

test("--json prints events alone, numbered without gaps", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("one");
  const ended = await box.ratchet("run", "--json");
  expect(ended.code).toBe(0);
  const events = eventsOf(ended);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events[0]).toMatchObject({ type: "run-started", run_id: expect.any(String), time: expect.any(String) });
  expect(events.at(-1)).toMatchObject({ type: "run-finished", exit_code: 0, success_count: 1, total_count: 1 });
});

test("nothing to do is exit 0, a failed issue exit 1", async () => {
  const box = sandbox();
  useAgent(box, "exit 9");
  expect((await box.ratchet("run")).code).toBe(0);
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.status("one")).toBe("failed");
});

test("--dry-run prints what would be taken, in order, and starts nothing", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("late", { more: ["--priority", "P3"] });
  await box.add("soon", { more: ["--priority", "P0"] });
  await box.add("after", { more: ["--dep", "late"] });
  await box.add("never");
  await box.ratchet("work", "block", "never");
  await box.add("epic-1", { more: ["--type", "epic"] });
  await box.add("child", { more: ["--parent", "epic-1", "--priority", "P1"] });
  const plan = async (...args: string[]) => (await box.ratchet("run", "--dry-run", ...args)).stdout;
  expect(await plan()).toBe("soon\nchild\nlate\nafter\n");
  expect(await plan("--max-issues", "2")).toBe("soon\nchild\n");
  expect(await plan("--scope", "epic:epic-1")).toBe("child\n");
  expect(await plan("--scope", "orphans")).toBe("soon\nlate\nafter\n");
  expect(await plan("--scope", "ids:late,after")).toBe("late\nafter\n");
  expect(await plan("after")).toBe("");
  const none = await box.ratchet("run", "--dry-run", "--scope", "ids:never");
  expect([none.stdout, none.stderr]).toEqual(["", expect.stringContaining("no issue would be taken")]);
  expect(JSON.parse(await plan("--json", "--max-issues", "1"))).toEqual({
    dry_run: true,
    issues: ["soon"],
    continues: [],
  });
  expect(existsSync(join(box.home, "runs"))).toBe(false);
  expect(JSON.parse((await box.ratchet("logs", "list", "--json")).stdout)).toEqual([]);
});

test("--dry-run takes what waits for an epic, and with --explain tells order, blockers and budgets", async () => {
  const box = sandbox();
  useAgent(box, commits, { budgets: { run: { usd: 2, minutes: 30 } } });
  await box.add("done");
  await box.ratchet("work", "complete", "done");
  await box.add("epic-1", { more: ["--type", "epic"] });
  await box.add("child", { more: ["--parent", "epic-1", "--dep", "done"] });
  await box.add("after", { more: ["--dep", "epic-1", "--dep", "done", "--priority", "P0"] });
  await box.add("held");
  await box.add("stuck", { more: ["--dep", "held"] });
  await box.ratchet("work", "block", "held");
  const plan = async (...args: string[]) => (await box.ratchet("run", "--dry-run", ...args)).stdout;
  expect(await plan()).toBe("child\nafter\n");
  const lines = (await plan("--explain")).split("\n");
  expect(lines.slice(0, 5)).toEqual([
    "1. child (P2)",
    "2. after (P0), after epic-1",
    "",
    "Not taken:",
    expect.stringContaining("held"),
  ]);
  expect(lines).toContain("stuck is not running: blocked by held (blocked)");
  expect(lines).toContain("Budget of an issue: no limit; of the run: 2 USD, 30 minutes");
  expect(JSON.parse(await plan("--explain", "--json", "--max-issues", "1"))).toMatchObject({
    issues: ["child"],
    order: [{ issue_id: "child", priority: 2, after: [] }],
    not_taken: [{ issue_id: "after" }, { issue_id: "held" }, { issue_id: "stuck", blockers: ["held"] }],
    budgets: { run: { usd: 2, tokens: null, minutes: 30 } },
  });
  expect(existsSync(join(box.home, "runs"))).toBe(false);
});

test("--dry-run takes nothing behind an epic that the run does not look at, and the run says the same", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("epic-1", { more: ["--type", "epic"] });
  await box.add("child", { more: ["--parent", "epic-1"] });
  await box.add("after", { more: ["--dep", "epic-1"] });
  await box.ratchet("work", "complete", "child");
  await box.add("epic-2", { more: ["--type", "epic"] });
  await box.add("other", { more: ["--parent", "epic-2", "--dep", "epic-1"] });
  const refused = "after is not ready: blocked by epic-1\n";
  expect(await box.ratchet("run", "--dry-run", "after")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringContaining(refused),
  });
  expect(await box.ratchet("run", "after")).toMatchObject({ code: 1, stderr: expect.stringContaining(refused) });
  for (const scope of ["orphans", "epic:epic-2"]) {
    expect((await box.ratchet("run", "--dry-run", "--scope", scope)).stdout).toBe("");
    expect((await box.ratchet("run", "--scope", scope)).stdout).not.toContain("started: Do");
  }
  expect((await box.ratchet("run", "--dry-run")).stdout).toBe("after\nother\n");
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await box.status("after"), await box.status("other")]).toEqual(["completed", "completed"]);
});

test.each([
  [["--explain"], "--explain tells what a run would do"],
  [["--strict"], "--strict says how to resume"],
  [["--fresh"], "--fresh says how to resume"],
  [["--resume", "--strict", "--fresh"], "--strict demands the earlier session and --fresh a new one"],
  [["--scope", "some"], "--scope some is not one of all, epic:X, ids:a,b, orphans"],
  [["a", "--scope", "all"], "ids and --scope cannot be given together"],
  [["--max-agents", "none"], "--max-agents"],
  [["--disable-validations", "everything"], "--disable-validations"],
])("run %j is exit 2", async (args, message) => {
  const box = sandbox();
  useAgent(box);
  const { code, stdout, stderr } = await box.ratchet("run", ...args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(message);
});

test("an id that does not exist is refused, with a hint, and so is an issue as an epic", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("one");
  expect(await box.ratchet("run", "--scope", "epic:one")).toMatchObject({
    code: 2,
    stderr: "ratchet: one is an issue, not an epic\n  hint: ratchet run one runs it\n",
  });
  const { code, stderr } = await box.ratchet("run", "one", "two", "three");
  expect(code).toBe(1);
  expect(stderr).toContain("no issue two, three in shop");
  expect(stderr).toContain("hint: ratchet work list");
  expect(existsSync(join(box.home, "runs"))).toBe(false);
});

test("ids that are not ready are told one by one, the others run", async () => {
  const box = sandbox();
  useAgent(box);
  for (const id of ["done", "failed", "first", "held", "ready"]) await box.add(id);
  await box.add("second", { more: ["--dep", "first"] });
  await box.ratchet("work", "complete", "done");
  await box.ratchet("work", "claim", "held", "--as", "somebody");
  await box.ratchet("work", "block", "failed", "--reason", "waits for money");
  const { code, stderr } = await box.ratchet("run", "done", "failed", "held", "second", "ready");
  expect(code).toBe(1);
  expect(stderr.trimEnd().split("\n")).toEqual([
    "done is not ready: completed",
    "failed is not ready: blocked (waits for money), use ratchet work unblock failed",
    "held is not ready: claimed by somebody",
    "second is not ready: blocked by first",
  ]);
  expect(await box.status("ready")).toBe("completed");
  expect(await box.status("first")).toBe("available");
  expect(await box.ratchet("run", "--resume", "--check-only", "first")).toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringContaining("first is not ready: nobody has worked on it yet, so there is nothing to check"),
  });
  expect((await box.ratchet("run", "--resume", "--check-only", "--dry-run")).stdout).toBe("");
  // What a person holds is done by no run: it was asked for and cannot be.
  expect((await box.ratchet("run", "done", "held")).code).toBe(1);
  expect(await box.ratchet("run", "held")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^held is not ready: claimed by somebody\n.*held cannot run now\n.*explain held/),
  });
});

test("no run starts for what is completed, or what another run works on", async () => {
  const box = sandbox();
  useAgent(box);
  for (const id of ["done", "taken"]) await box.add(id);
  await box.ratchet("work", "complete", "done");
  const nothing = { code: 0, stdout: "", stderr: "done is not ready: completed\n" };
  expect(await box.ratchet("run", "done")).toMatchObject(nothing);
  expect(existsSync(join(box.home, "runs"))).toBe(false);
  const wait = box.put("wait", "");
  const run = box.start(["run", "taken"]);
  await until("the agent works", () => run.stdout().includes("taken: prompt"));
  const { code, stdout, stderr } = await box.ratchet("run", "taken", "done");
  expect([code, stdout]).toEqual([0, ""]);
  expect(stderr).toContain("taken is not ready: claimed by run ");
  rmSync(wait);
  expect((await run.ended).code).toBe(0);
  expect(JSON.parse((await box.ratchet("logs", "list", "--json")).stdout)).toHaveLength(1);
});

test("named issues of which none can run are refused; a run that finds nothing ready says what is left", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("stuck");
  await box.ratchet("work", "block", "stuck");
  await box.add("epic-1", { more: ["--type", "epic"] });
  const refused = await box.ratchet("run", "stuck", "epic-1", "--json");
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toEqual({
    error: {
      code: "not-ready",
      message: "stuck, epic-1 cannot run now",
      hint: "ratchet explain stuck\nratchet explain epic-1",
    },
  });
  expect(existsSync(join(box.home, "runs"))).toBe(false);
  const idle = await box.ratchet("run");
  expect(idle).toMatchObject({ code: 0, stderr: "nothing is ready: 1 blocked (ratchet work unblock <id>)\n" });
  await box.add("elsewhere");
  const empty = await box.ratchet("run", "--scope", "epic:epic-1");
  const none = "epic epic-1 has no issues, so no run completes it or an epic that it is in (ratchet explain epic-1)\n";
  expect(empty).toMatchObject({ code: 0, stderr: `nothing is ready: there is no open issue in epic epic-1\n${none}` });
  expect(await box.status("elsewhere")).toBe("available");
});

test("a run that finds no open issue names the epics that have none, which it cannot complete", async () => {
  const box = sandbox();
  useAgent(box, commits);
  await box.add("e", { more: ["--type", "epic"] });
  await box.add("inner", { more: ["--type", "epic", "--parent", "e"] });
  await box.add("done", { more: ["--parent", "e"] });
  await box.ratchet("work", "complete", "done");
  const { code, stderr } = await box.ratchet("run");
  const why = "epic inner has no issues, so no run completes it or an epic that it is in (ratchet explain inner)\n";
  expect([code, stderr.split("\n").at(1)]).toEqual([0, why.trim()]);
  expect(await box.status("e")).toBe("available");
});

test("a run on an empty board says so, and what fills it", async () => {
  const box = sandbox();
  useAgent(box);
  const said = 'nothing is ready: there is no open issue (ratchet work add "<title>")\n';
  const orphans = { stderr: "nothing is ready: there is no open issue without an epic\n" };
  expect(await box.ratchet("run", "--scope", "orphans")).toMatchObject(orphans);
  expect(await box.ratchet("run")).toMatchObject({ code: 0, stderr: said });
});

test("what waits for a named issue that cannot run is told so, and nothing starts for it", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("held");
  await box.add("second", { more: ["--dep", "held"] });
  await box.add("third", { more: ["--dep", "second"] });
  await box.ratchet("work", "claim", "held", "--as", "somebody");
  const told = "second is not ready: blocked by held\nthird is not ready: blocked by second\n";
  expect(await box.ratchet("run", "third", "second")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^third is not ready: blocked by second\nsecond is not ready: blocked by held\n/),
  });
  expect(await box.ratchet("run", "second", "third", "--json")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("second, third cannot run now"),
    stderr: told,
  });
  expect(await box.ratchet("run", "second", "third", "--dry-run")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(told),
  });
  await box.ratchet("work", "add", "Done", "--id", "done");
  await box.ratchet("work", "complete", "done");
  expect((await box.ratchet("run", "done", "third")).code).toBe(1);
  expect(JSON.parse((await box.ratchet("logs", "list", "--json")).stdout)).toEqual([]);
  await box.ratchet("work", "release", "held");
  expect(await box.ratchet("run", "third", "second", "held")).toMatchObject({ code: 0, stderr: "" });
  expect(await box.status("third")).toBe("completed");
});

test("a failed issue that waits for another by now is no run of its own, and what waits for an epic follows its issues", async () => {
  const box = sandbox();
  useAgent(box, "exit 9");
  await box.add("first");
  await box.add("failed");
  await box.ratchet("run", "failed");
  await box.ratchet("work", "dep", "failed", "--on", "first");
  expect(await box.ratchet("run", "--resume", "failed")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("failed is not ready: blocked by first\n"),
  });
  expect(JSON.parse((await box.ratchet("logs", "list", "--json")).stdout)).toHaveLength(1);
  useAgent(box);
  await box.add("epic-1", { more: ["--type", "epic"] });
  await box.add("child", { more: ["--parent", "epic-1"] });
  await box.add("after", { more: ["--dep", "epic-1"] });
  expect(await box.ratchet("run", "after")).toMatchObject({ code: 1, stderr: expect.stringContaining("by epic-1\n") });
  expect(await box.ratchet("run", "after", "child")).toMatchObject({ code: 0, stderr: "" });
});

test("do adds one issue, its title the first line, and runs exactly it", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("other");
  const { code, stdout } = await box.ratchet("do", "Fix the door\nIt squeaks.");
  expect(code).toBe(0);
  expect(stdout).toContain("added shop-1\n");
  const item = JSON.parse((await box.ratchet("work", "show", "shop-1", "--json")).stdout);
  expect(item).toMatchObject({ title: "Fix the door", body: "It squeaks.", status: "completed" });
  expect(await box.status("other")).toBe("available");
});

test("a dirty checkout is no obstacle, and nothing in it is touched", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("one");
  box.write("README.md", "being edited\n");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(box.read("README.md")).toBe("being edited\n");
});

test("a reader that goes away neither ends nor loses the run", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("one");
  await box.add("two");
  const child = spawn(process.execPath, [program, "run", "--max-agents", "1"], { cwd: box.dir, env: box.env });
  await once(child.stdout, "data");
  child.stdout.destroy();
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  expect([await box.status("one"), await box.status("two")]).toEqual(["completed", "completed"]);
  expect(runLog(box).at(-1)).toMatch(/exit code 0$/);
});

test("what a living run holds is not taken out of its hands; what a person completes meanwhile does not land", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("one");
  await box.add("two");
  const wait = box.put("wait", "");
  const run = box.start(["run", "--max-agents", "2"]);
  await until("both work", () => (run.stdout().match(/prompt implementer sent/g) ?? []).length === 2);
  const { run_id: runId } = await box.record();
  for (const [command = "", ...more] of [["release"], ["fail"], ["block"], ["claim", "--as", runId]]) {
    const refused = await box.ratchet("work", command, "two", ...more);
    expect([command, refused.code, refused.stderr]).toEqual([command, 1, expect.stringContaining("ratchet stop two")]);
  }
  expect(await box.ratchet("work", "complete", "one")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("ratchet stop one"),
  });
  rmSync(wait);
  const { code, stdout } = await run.ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/one: interrupted: The issue was closed by someone else/)]);
  expect([await box.status("one"), await box.status("two")]).toEqual(["completed", "completed"]);
  expect([existsSync(join(box.dir, "one.txt")), existsSync(join(box.dir, "two.txt"))]).toEqual([false, true]);
});

test.each([
  ["failed", { commands: { check: "false" }, evidence_check: { required: ["check"] }, max_gate_retries: 1 }],
  ["escalated", { budgets: { issue: { tokens: 1 } } }],
])(
  "what a person completes meanwhile, and would end %s, ends as closed; nothing is left to tell",
  async (would, more) => {
    const box = sandbox();
    const told = `echo '{"usage": {"input_tokens": 50, "output_tokens": 10}}' >"$RATCHET_RESULT_FILE"`;
    useAgent(box, `${told}\n${commits}`, more);
    await box.add("one");
    const wait = box.put("wait", "");
    const run = box.start(["run"]);
    await until("it works", () => run.stdout().includes("prompt implementer sent"));
    expect((await box.ratchet("work", "complete", "one")).code).toBe(0);
    rmSync(wait);
    const { code, stdout } = await run.ended;
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("one: interrupted: The issue was closed by someone else"),
    ]);
    expect(stdout).toContain(`one: It would have ended ${would}: `);
    expect(stdout).not.toMatch(/could not be told|one: escalated/);
    expect(await box.issue("one")).toMatchObject({ status: "interrupted", error: "closed", commit: null });
    expect(await box.status("one")).toBe("completed");
  },
);

test("what a killed run is in the middle of is not made free by hand: the run goes on with it, or stops it where that was said", async () => {
  const box = sandbox();
  const ids = ["one", "two", "three"];
  const waits = ids.map((id) => box.put(`wait-${id}`, ""));
  useAgent(box, `while [ -e "$HOME/wait-$RATCHET_ISSUE_ID" ]; do sleep 0.05; done\n${commits}`);
  for (const id of ids) await box.add(id);
  const run = box.start(["run", "--max-agents", "3"]);
  await until("they work", () => (run.stdout().match(/prompt implementer sent/g) ?? []).length === 3);
  const { run_id: runId } = await box.record();
  run.kill("SIGKILL");
  await run.ended;
  const refused = async (id: string, ...command: string[]) => {
    const { code, stderr } = await box.ratchet(...command, id);
    const why = `run ${runId} is in the middle of ${id}, and its process is gone\n`;
    expect([command, code, stderr]).toEqual([command, 1, expect.stringContaining(why)]);
    expect(stderr).toContain(`ratchet run goes on with it, or after ratchet stop ${id} stops it`);
  };
  const board = ["release", "fail", "block", "unblock", "claim"].map((verb) => ["work", verb]);
  for (const way of [...board, ["work", "claim", "--as", runId], ["retry"], ["land"]]) await refused("one", ...way);
  expect(await box.status("one")).toBe("claimed");
  expect((await box.ratchet("work", "complete", "two")).code).toBe(0);
  await refused("two", "land");
  await box.quick("stop", "three");
  for (const wait of waits.slice(0, 2)) rmSync(wait);
  expect((await box.ratchet("run", "one")).stdout).toMatch(/two: interrupted: The issue was closed by someone else/);
  const statuses = await Promise.all(ids.map((id) => box.status(id)));
  expect(statuses).toEqual(["completed", "completed", "available"]);
  expect((await box.ratchet("work", "claim", "three")).code).toBe(0);
  expect(box.git("ls-tree", "--name-only", "main")).toBe("README.md\none.txt");
});

test("a killed run is continued first, then the new one runs if its scope has work", async () => {
  await continueKilled(sandbox());
});

test("D1 what a killed run found for later stays for later: its follow-ups are not taken by whoever continues it", async () => {
  const box = sandbox();
  const later = { verdict: "pass", findings: [{ title: "Nit", priority: 3, file: "one.txt" }] };
  const command = box.script("reviewer", `cat > /dev/null; echo '${JSON.stringify(later)}'`);
  await continueKilled(box, { per_issue_review: { enabled: true, reviewer_type: "command", command } });
  expect((await box.ratchet("work", "list")).stdout).toMatch(/available .* Follow-up of one/);
  const next = await box.ratchet("run");
  expect(next.stdout).toContain("Follow-up of one");
});

test("of two that find a killed run at once one goes on with it, and the other says nothing of it", async () => {
  const box = sandbox();
  useAgent(box, commits);
  await box.add("one");
  const wait = box.put("wait", "");
  const first = box.start(["run"]);
  await until("the agent is asked", () => first.stdout().includes("prompt implementer sent"));
  first.kill("SIGKILL");
  await first.ended;
  const both = [box.start(["run"]), box.start(["run"])];
  const saying = () => both.filter((run) => run.stdout().includes("Continuing run"));
  await until("it is taken up", () => saying().length > 0);
  const other = both.find((run) => !saying().includes(run));
  await until("the other is on its own", () => /working along|started/.test(`${other?.stdout()}${other?.stderr()}`));
  rmSync(wait);
  const ended = await Promise.all(both.map((run) => run.ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(saying()).toHaveLength(1);
  for (const { stderr } of ended) expect(stderr).not.toContain("goes on with the run");
  expect(await box.quick("work", "list", "--all")).toContain("completed");
});

async function continueKilled(box: Sandbox, settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
  useAgent(box, commits, settings);
  await box.add("one");
  const wait = box.put("wait", "");
  const first = box.start(["run"]);
  await until("the agent is asked", () => first.stdout().includes("prompt implementer sent"));
  first.kill("SIGKILL");
  await first.ended;
  const { run_id } = await box.record();
  const second = box.start(["run"]);
  await until("it is taken up", () => second.stdout().includes(`Continuing run ${run_id} from `));
  rmSync(wait);
  const { code, stdout } = await second.ended;
  expect(code).toBe(0);
  expect(stdout.match(/^run \S+ started/gm) ?? []).toHaveLength(0);
  expect(await box.record()).toMatchObject({ run_id, status: "succeeded", issues: { one: { status: "success" } } });
  const texts = runLog(box);
  expect(texts[0]).toContain(`run ${run_id} started`);
  expect(texts.filter((line) => line.includes("one: started"))).toHaveLength(1);
}
