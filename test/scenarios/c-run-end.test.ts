import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "./sandbox.js";
import {
  countRan,
  failWith,
  isWaitedFor,
  ownReview,
  pass,
  putOwnReview,
  ran,
  runLog,
  triggerBox,
  triggerLines,
  waitFor,
} from "./trigger-world.js";

const runEndLines = (ended: { stdout: string }) => triggerLines(ended).filter((line) => line.includes("run_end"));
const started = (success: number, total: number) =>
  `[trigger] run_end started: success_count=${success}, total_count=${total}`;
const completed = (result: string) => `[trigger] run_end completed: result=${result}`;
const skipped = (reason: string) => `[trigger] run_end skipped: reason=${reason}`;
/** Issues whose id begins with "bad" fail. */
const someFail = "case $RATCHET_ISSUE_ID in bad*) exit 1 ;; esac";

const cells = [
  { good: 0, bad: 1, fire_on: "success", fires: false },
  { good: 0, bad: 1, fire_on: "failure", fires: true },
  { good: 0, bad: 1, fire_on: "both", fires: true },
  { good: 2, bad: 0, fire_on: null, fires: true },
  { good: 1, bad: 0, fire_on: "failure", fires: false },
  { good: 1, bad: 0, fire_on: "both", fires: true },
  { good: 1, bad: 2, fire_on: "success", fires: true },
  { good: 1, bad: 1, fire_on: "failure", fires: true },
  { good: 1, bad: 1, fire_on: "both", fires: true },
] as const;

test.each(cells)(
  "C12 $good succeeded, $bad failed, fire_on $fire_on (null: the default): fires $fires",
  async (cell) => {
    const { good, bad, fire_on, fires } = cell;
    const run_end = { commands: ["one"], ...(fire_on === null ? {} : { fire_on }) };
    const box = triggerBox({ commands: { one: "true" }, triggers: { run_end }, agent: someFail });
    for (let n = 0; n < good; n++) await box.add(`good-${n}`);
    for (let n = 0; n < bad; n++) await box.add(`bad-${n}`);
    const ended = await box.ratchet("run");
    expect(ended.code).toBe(bad > 0 ? 1 : 0);
    const told = fires ? [started(good, good + bad), completed("pass")] : [skipped("fire_on_not_met")];
    expect(runEndLines(ended)).toEqual(told);
    expect(countRan(box, "one run")).toBe(fires ? 1 : 0);
    const { run_end: record, run_id } = await box.record();
    expect(record).toMatchObject(
      fires
        ? { status: "pass", reason: null, commands: [{ ref: "one", passed: true }], code_review_result: null }
        : { status: "skipped", reason: "fire_on_not_met", commands: [], code_review_result: null },
    );
    for (const line of told) expect(runLog(box, run_id)).toContain(line);
  },
);

test("C12 a run without a finished issue skips run_end and is well", async () => {
  const box = triggerBox({ commands: { one: "true" }, triggers: { run_end: { fire_on: "both", commands: ["one"] } } });
  const ended = await box.ratchet("run");
  expect([ended.code, runEndLines(ended)]).toEqual([0, [skipped("fire_on_not_met")]]);
});

test("C3 C13 run_end waits for every issue, runs once, in the run's own worktree at the tip, without an issue's name", async () => {
  const box = triggerBox({
    commands: {
      one: `if [ -n "$RATCHET_ISSUE_ID" ]; then ${waitFor("go")}; exit; fi
        { pwd; git rev-parse HEAD; git branch --show-current; ls; echo "$RATCHET_STAGE_ID"; } >"$HOME/seen"`,
    },
    triggers: { session_end: { commands: ["one"] }, run_end: { commands: ["one"] } },
  });
  await box.add("a");
  await box.add("b");
  const run = box.start(["run"]);
  await until("they are in session_end", () => isWaitedFor(box, "go"));
  expect(runEndLines({ stdout: run.stdout() })).toEqual([]);
  box.put("go", "");
  const ended = await run.ended;
  expect(ended.code).toBe(0);
  expect(runEndLines(ended)).toEqual([started(2, 2), completed("pass")]);
  expect(ended.stdout.indexOf(started(2, 2))).toBeGreaterThan(ended.stdout.lastIndexOf(": success:"));
  const { run_id, run_end } = await box.record();
  const seen = readFileSync(join(box.root, "seen"), "utf8").trim().split("\n");
  const worktree = join(box.home, "worktrees/shop", `_run-${run_id}`);
  expect(seen).toEqual([
    worktree,
    box.git("rev-parse", "main"),
    `ratchet/run-${run_id}`,
    "README.md",
    "a.txt",
    "b.txt",
    "run_end",
  ]);
  expect(run_end?.commands[0]?.output_path).toBe(join(box.home, "runs", run_id, "_run/01-run_end/one"));
  expect(box.processes()).toEqual([]);
});

test.each([
  ["abort", 0, "aborted", "failure_mode_abort"],
  ["continue", 1, "failed", "command_failed"],
  ["remediate", 1, "failed", "max_retries_exhausted"],
] as const)(
  "C13 commands that fail under %s: %i code reviews, exit 1",
  async (failure_mode, reviews, status, reason) => {
    const retries = failure_mode === "remediate" ? { max_retries: 1 } : {};
    const box = triggerBox({
      commands: { one: "true", two: "echo broken >&2; exit 7", three: "true" },
      triggers: {
        run_end: { failure_mode, ...retries, commands: ["one", "two", "three"], code_review: ownReview() },
      },
    });
    putOwnReview(box, pass);
    await box.add("a");
    const before = box.git("rev-parse", "main");
    const ended = await box.ratchet("run");
    expect([ended.code, runEndLines(ended)]).toEqual([1, [started(1, 1), completed("fail")]]);
    expect(countRan(box, "review run run_end")).toBe(reviews);
    expect(countRan(box, "fixer run")).toBe(failure_mode === "remediate" ? 1 : 0);
    expect(countRan(box, "three")).toBe(0);
    const record = await box.record();
    expect(record).toMatchObject({
      status,
      exit_code: 1,
      run_start_commit: before,
      run_end: { status: "fail", reason, commands: [{ ref: "one" }, { ref: "two", exit_code: 7 }] },
    });
    expect(record.run_end?.code_review_result).toEqual(
      reviews === 0 ? null : { ran: true, passed: true, findings: [] },
    );
    expect(record.issues.a).toMatchObject({ status: "success" });
  },
);

test("C13 remediate: the fixer gets the failure, its commits pass the gate and land, and run_end passes", async () => {
  const box = triggerBox({
    commands: { check: "true", one: "echo look-here; test -e run.txt" },
    triggers: { run_end: { failure_mode: "remediate", max_retries: 2, commands: ["one"] } },
    more: { evidence_check: { required: ["check"] } },
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect([ended.code, runEndLines(ended)]).toEqual([0, [started(1, 1), completed("pass")]]);
  expect(ran(box)).toEqual([
    "implementer a implementer 1",
    "check a",
    "one run",
    "fixer run fixer 1",
    "one run",
    "check run",
  ]);
  expect(box.git("log", "-1", "--format=%s", "main")).toBe("fixer for the run");
  const { run_id } = await box.record();
  const prompt = readFileSync(join(box.home, "runs", run_id, "_run/02-fixer/prompt.md"), "utf8");
  for (const text of ["run_end of this run", "look-here", "one failed: exit 1", "attempt 1 of 2"]) {
    expect(prompt).toContain(text);
  }
});

test("C13 B5 commands: [] and a code review: one review of all that landed, none per issue; blocking findings are exit 1", async () => {
  const box = triggerBox({ commands: {}, triggers: { run_end: { commands: [], code_review: ownReview() } } });
  putOwnReview(box, failWith("Together they break"));
  await box.add("a");
  await box.add("b");
  const start = box.git("rev-parse", "main");
  const ended = await box.ratchet("run");
  expect([ended.code, runEndLines(ended)]).toEqual([1, [started(2, 2), completed("fail")]]);
  expect(ran(box).filter((line) => line.startsWith("review"))).toEqual([
    `review run run_end ${start} ${box.git("rev-parse", "main")}`,
  ]);
  const { run_id, run_end } = await box.record();
  expect(run_end).toMatchObject({ reason: "code_review", code_review_result: { ran: true, passed: false } });
  const findings = JSON.parse(await box.quick("findings", "--json"));
  expect(findings).toMatchObject([
    { issue_id: run_id, stage: "run_end", title: "Together they break", status: "open" },
  ]);
  expect(run_end?.code_review_result?.findings).toEqual([findings[0].id]);
});

test("B5 and the reverse: a per-issue review for each, none at the end", async () => {
  const box = triggerBox({ commands: { one: "true" }, triggers: { run_end: { commands: ["one"] } }, reviewer: pass });
  await box.add("a");
  await box.add("b");
  expect((await box.ratchet("run")).code).toBe(0);
  expect([countRan(box, "review a per_issue_review"), countRan(box, "review b per_issue_review")]).toEqual([1, 1]);
  expect(countRan(box, "review run")).toBe(0);
});

test("a review that remediates sends its fixer, then looks again; since_last_review goes on where it stopped", async () => {
  const code_review = ownReview({ failure_mode: "remediate", max_retries: 1, baseline: "since_last_review" });
  const box = triggerBox({ commands: {}, triggers: { run_end: { commands: [], code_review } } });
  putOwnReview(box, `if [ -e run.txt ]; then ${pass}; else ${failWith("Wrong")}; fi`);
  await box.add("a");
  const start = box.git("rev-parse", "main");
  expect((await box.ratchet("run")).code).toBe(0);
  const first = box.git("rev-parse", "main");
  expect(ran(box).filter((line) => !line.startsWith("implementer"))).toEqual([
    expect.stringMatching(`^review run run_end ${start} `),
    "fixer run fixer 1",
    `review run run_end ${start} ${first}`,
  ]);
  await box.add("b");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(ran(box).at(-1)).toBe(`review run run_end ${first} ${box.git("rev-parse", "main")}`);
});

test("a review without a verdict is no last review: since_last_review starts again from where that one began", async () => {
  const code_review = ownReview({ baseline: "since_last_review" });
  const box = triggerBox({ commands: {}, triggers: { run_end: { commands: [], code_review } } });
  putOwnReview(box, "exit 3");
  await box.add("a");
  const start = box.git("rev-parse", "main");
  expect((await box.ratchet("run")).code).toBe(1);
  putOwnReview(box, pass);
  await box.add("b");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(ran(box).at(-1)).toBe(`review run run_end ${start} ${box.git("rev-parse", "main")}`);
  const [finding] = JSON.parse(await box.quick("findings", "--all", "--json"));
  expect(finding).toMatchObject({ source: "protocol", status: "waived", reason: "run_end: no verdict" });
});

test("since_last_review covers what was merged between runs, also where the last one had nothing to look at or stopped at a lost commit", async () => {
  const code_review = ownReview({ baseline: "since_last_review" });
  const triggers = { run_end: { commands: [], code_review } };
  const box = triggerBox({ commands: {}, triggers, more: { finalize: { mode: "branch" } } });
  putOwnReview(box, pass);
  const start = box.git("rev-parse", "main");
  const runAndMerge = async (id: string) => {
    await box.add(id);
    expect((await box.ratchet("run")).code).toBe(0);
    box.git("merge", "--quiet", "--no-ff", "--message", `merge ${id}`, `ratchet/${id}`);
  };
  await runAndMerge("a");
  expect(countRan(box, "review run")).toBe(0);
  const seen = box.git("rev-parse", "main");
  await runAndMerge("b");
  expect(ran(box).at(-1)).toBe(`review run run_end ${start} ${seen}`);
  // What run b's review has seen is on no branch any more.
  box.git("reset", "--quiet", "--hard", start);
  box.write("mine.txt", "mine\n");
  box.git("add", "mine.txt");
  box.git("commit", "--quiet", "--message", "mine");
  const mine = box.git("rev-parse", "main");
  box.git("branch", "--quiet", "-D", "ratchet/a", "ratchet/b");
  await runAndMerge("c");
  expect(ran(box).at(-1)).toBe(`review run run_end ${start} ${mine}`);
});

test("since_last_review goes on from the newest review that another branch got, where it has its commit", async () => {
  const code_review = ownReview({ baseline: "since_last_review" });
  const box = triggerBox({ commands: {}, triggers: { run_end: { commands: [], code_review } } });
  putOwnReview(box, pass);
  const runOn = async (id: string, ...checkout: string[]) => {
    box.git("checkout", "--quiet", ...checkout);
    box.git("commit", "--quiet", "--allow-empty", "--message", `before ${id}`);
    await box.add(id);
    expect((await box.ratchet("run")).code).toBe(0);
    return box.git("rev-parse", "HEAD");
  };
  const first = await runOn("a", "main");
  const second = await runOn("b", "-b", "next");
  expect(ran(box).at(-1)).toBe(`review run run_end ${first} ${second}`);
  const third = await runOn("c", "-b", "release");
  expect(ran(box).at(-1)).toBe(`review run run_end ${second} ${third}`);
  const fourth = await runOn("d", "main");
  expect(ran(box).at(-1)).toBe(`review run run_end ${first} ${fourth}`);
});

test("what run_end's command found in earlier runs is closed by its next result", async () => {
  const box = triggerBox({ commands: { one: 'test -e "$HOME/mended"' }, triggers: { run_end: { commands: ["one"] } } });
  const open = async () =>
    JSON.parse(await box.quick("findings", "--json")).map((one: { run_id: string }) => one.run_id);
  for (const id of ["a", "b"]) {
    await box.add(id);
    expect((await box.ratchet("run")).code).toBe(1);
    expect(await open()).toEqual([(await box.record()).run_id]);
  }
  box.put("mended", "");
  await box.add("c");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(await open()).toEqual([]);
});
