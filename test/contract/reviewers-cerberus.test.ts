import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { followProgram } from "../../src/lib/process/follow.js";
import { startProgram } from "../../src/lib/process/start.js";
import { stopProgram } from "../../src/lib/process/stop.js";
import { belongings, never, until } from "./process-support.js";
import { type CerberusPlan, type ReviewerWorld, reviewerWorld } from "./reviewer-world.js";

let world: ReviewerWorld;
beforeEach(() => {
  world = reviewerWorld();
});
afterEach(() => world.done());

const resolved = (verdict: string, more: object = {}): NonNullable<CerberusPlan["wait"]> => ({
  print: JSON.stringify({ status: "resolved", verdict, run_key: "review", current_iteration: 2, ...more }),
});
const output = (...titles: string[]) => ({
  findings: titles.map((title) => ({
    title,
    body: "b",
    priority: 1,
    file_path: "a.ts",
    line_start: 3,
    line_end: null,
  })),
});
const round = (iteration: number, number: number, who: string) =>
  `iterations/${iteration}/round-${number}/reviewers/${who}/output.json`;

test("it is started on every commit under review with the prompt as its context, and then waited for", async () => {
  const reviewer = world.cerberus(
    { wait: resolved("pass") },
    { timeout: 40, spawn_args: ["--mode", "fast"], wait_args: ["--poll-interval", "1"] },
  );
  expect((await world.play(reviewer)).review).toEqual({ type: "verdict", verdict: "pass", findings: [] });
  const context = join(world.turn().files.folder, "cerberus", "context.md");
  const [spawned, waited] = world.calls();
  expect(spawned?.slice(0, 6)).toEqual(["spawn-code-review", "--context-file", context, "--mode", "fast", "--commit"]);
  expect(spawned?.slice(6)).toHaveLength(2);
  expect(spawned?.at(-1)).toBe(world.head);
  expect(waited).toEqual(
    ["wait", "--json", "--finalize", "--session-key", "review"].concat([
      "--timeout",
      expect.stringMatching(/^\d+$/),
      "--poll-interval",
      "1",
    ]),
  );
  expect(readFileSync(context, "utf8")).toBe("Review it.");
});

test("a timeout among the wait_args is the user's own", async () => {
  await world.play(world.cerberus({ wait: resolved("pass") }, { wait_args: ["--timeout=7"] }));
  expect(world.calls()[1]?.slice(5)).toEqual(["--timeout=7"]);
});

test("the findings are those of the last round of the last iteration, each with its reviewer", async () => {
  const files = {
    [round(1, 1, "codex#1")]: output("of an older iteration"),
    [round(2, 1, "codex#1")]: output("of an older round"),
    [round(2, 10, "codex#1")]: output("one"),
    [round(2, 10, "claude#1")]: output("two", "three"),
    [round(2, 10, "gemini#1").replace("output.json", "stderr.log")]: "it failed",
    "run-telemetry.json": { total_tokens: { input: 5, output: 2 }, total_cost_usd: 0.1 },
  };
  const { review, usage } = await world.play(world.cerberus({ wait: resolved("fail"), files }));
  const findings = review?.type === "verdict" ? review.findings : [];
  expect(findings.map(({ title, reviewer }) => [title, reviewer])).toEqual([
    ["two", "claude#1"],
    ["three", "claude#1"],
    ["one", "codex#1"],
  ]);
  expect(findings[0]).toMatchObject({ file: "a.ts", line_start: 3, line_end: 3, priority: 1 });
  expect(usage).toEqual({ input_tokens: 5, output_tokens: 2, cost_usd: 0.1 });
});

test.each([
  ["needs_work", "pass"],
  ["fail", "fail"],
  ["requires_decision", "fail"],
])("%s with findings is %s, and the findings decide", async (word, verdict) => {
  const wait = resolved(word, { iterations: [{ findings: [] }, { findings: [{ title: "T", priority: 1 }] }] });
  const { review } = await world.play(world.cerberus({ wait }));
  expect(review).toMatchObject({ type: "verdict", verdict, findings: [{ title: "T" }] });
});

test("what a reviewer's file has found counts beside what the answer says", async () => {
  const wait = resolved("pass", { findings: [{ title: "nit", priority: 3 }] });
  const { review } = await world.play(world.cerberus({ wait, files: { [round(2, 1, "codex#1")]: output("leak") } }));
  expect(review).toMatchObject({
    type: "verdict",
    findings: [{ title: "nit" }, { title: "leak", reviewer: "codex#1" }],
  });
});

test("a pass stands with whatever else the answer says", async () => {
  const reviewers = [{ name: "codex", status: "failed", error: "crash", verdict: "fail" }];
  const more = { reviewers, issues: [], session_id: "s", usage: { input_tokens: 1 }, previous_findings: ["P0: leak"] };
  const { review, sessionId, usage } = await world.play(world.cerberus({ wait: resolved("pass", more) }));
  expect(review).toEqual({ type: "verdict", verdict: "pass", findings: [] });
  expect([sessionId, usage]).toEqual([null, null]);
});

test("a run that cerberus gives a key of its own is waited for by that key", async () => {
  const plan = { spawn: { print: '{"run_key": "rk-77"}\n' }, key: "rk-77", wait: resolved("pass") };
  expect((await world.play(world.cerberus(plan))).review).toMatchObject({ verdict: "pass" });
});

test("a review left open is put away, and the review is started once more", async () => {
  const reviewer = world.cerberus({ stale: 1, wait: resolved("pass") });
  expect((await world.play(reviewer)).review).toMatchObject({ verdict: "pass" });
  expect(world.calls().map(([command]) => command)).toEqual([
    "spawn-code-review",
    "resolve",
    "spawn-code-review",
    "wait",
  ]);
  expect(world.calls()[1]?.[1]).toBe("--reason");
});

test.each<[string, CerberusPlan, string]>([
  ["cannot start", { spawn: { code: 2 } }, "spawn-code-review failed (exit code 2): no reviewer CLI is available"],
  ["is active again after it was put away", { stale: 2 }, "already active"],
  ["cannot be put away", { stale: 1, resolve: { code: 1 } }, "cerberus resolve failed (exit code 1)"],
  [
    "runs out of time",
    { wait: { code: 3, ...resolved("pass") } },
    "no verdict in the time it was told to wait, 2 times",
  ],
  [
    "fails while it is waited for",
    { wait: { code: 1, print: "reviewer crashed\n" } },
    "exit code 1): reviewer crashed",
  ],
  ["ends without an answer", { wait: { print: "" } }, "is not JSON"],
  ["is still pending", { wait: { print: '{"status": "pending"}' } }, "not resolved"],
  ["has no review", { wait: { print: '{"status": "no_active_gate"}' } }, "not resolved"],
  ["says nothing that is known", { wait: resolved("great") }, '"great" is no verdict'],
  ["fails without a finding", { wait: resolved("fail") }, "fail without any finding"],
  ["decides nothing", { wait: resolved("requires_decision", { resolution_reason: "tie" }) }, "decision: tie"],
  [
    "asks for a decision on what does not block",
    { wait: resolved("requires_decision", { findings: [{ title: "nit", priority: 3 }] }) },
    "cerberus asks for a person's decision",
  ],
  [
    "has a finding within another",
    {
      wait: resolved("pass", {
        findings: [{ title: "group", priority: 3, items: [{ file_path: "a.c", priority: 0 }] }],
      }),
    },
    "one of the findings has findings of its own",
  ],
  [
    "tells its findings as a text",
    { wait: resolved("needs_work", { findings: "P0 crash" }) },
    '"P0 crash" is no finding',
  ],
  [
    "tells its findings elsewhere",
    { wait: resolved("pass", { findings: [], issues: ["leak"] }) },
    '"issues" is no key',
  ],
  [
    "tells them without a priority",
    { wait: resolved("needs_work", { reviewers: [{ critical_findings: [{ title: "leak" }] }] }) },
    '"reviewers" is no key for findings',
  ],
  [
    "fails with less than it tells elsewhere",
    { wait: resolved("fail", { findings: [{ title: "nit", priority: 3 }], blocking_issues: ["P0: leak"] }) },
    '"blocking_issues" is no key for findings',
  ],
  [
    "has a reviewer whose file tells them elsewhere",
    { wait: resolved("pass"), files: { [round(2, 1, "codex#1")]: { findings: [], blocking_issues: ["leak"] } } },
    '"codex#1/output.json" is no key for findings',
  ],
  ["says two things", { wait: resolved("pass", { Verdict: "fail" }) }, 'gives "verdict" twice'],
  [
    "leaves findings that cannot be read",
    { wait: resolved("pass"), files: { [round(2, 1, "codex#1")]: "{" } },
    "the findings of codex#1 cannot be read",
  ],
])("A8 a cerberus that %s gives no verdict", async (_what, plan, reason) => {
  const { review } = await world.play(world.cerberus(plan));
  expect(review).toMatchObject({ type: "protocol", reason: expect.stringContaining(reason) });
});

test("a cerberus that never ends is ended with its turn", async () => {
  const reviewer = world.cerberus({ wait: { hang: true } });
  const { files, cwd } = world.turn();
  const { argv, env, stopSignal } = reviewer.command(world.turn());
  const { folder } = files;
  await startProgram({
    folder,
    argv,
    env: { ...env },
    cwd,
    stdinFile: join(world.root, "prompt.md"),
    stdoutFile: files.stdout,
    stderrFile: files.stderr,
  });
  await until("it waits", () => world.calls().some(([command]) => command === "wait"));
  await stopProgram(folder, { first: stopSignal, graceMs: 10_000, why: "timed-out" });
  expect(await followProgram(folder, { signal: never, timeoutAt: Date.now() + 20_000 })).toMatchObject({
    type: "exited",
    stopped: "timed-out",
  });
  expect(belongings(folder)).toEqual([]);
});

test("a review that is not done in time is asked for again, not started again", async () => {
  const { review } = await world.play(world.cerberus({ wait: { late: 1, ...resolved("pass") } }));
  expect(review).toMatchObject({ type: "verdict", verdict: "pass" });
  expect(world.calls().map(([command]) => command)).toEqual(["spawn-code-review", "wait", "wait"]);
});

test("a review that hangs is over after its timeout; a longer one among the wait_args counts instead", async () => {
  const { review } = await world.play(world.cerberus({ wait: { hang: true } }, { timeout: 1 }));
  expect(review).toMatchObject({ type: "protocol", reason: expect.stringContaining("no verdict within 1 s") });
  const seconds = (wait_args: string[]) => world.cerberus({}, { timeout: 300, wait_args }).timeoutSeconds;
  expect([seconds([]), seconds(["--timeout=7"]), seconds(["--timeout", "900"])]).toEqual([330, 330, 930]);
});

test("cerberus missing on PATH is said before anything starts, with a hint", async () => {
  const reviewer = world.cerberus({});
  expect(await reviewer.check()).toBeNull();
  rmSync(join(world.root, "bin"), { recursive: true });
  const missing = await reviewer.check();
  expect(missing?.message).toContain("reviewer security: the program cerberus is not on PATH");
  expect(missing?.hint).toMatch(/install cerberus/);
});
