import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { beadsWorld } from "../contract/beads-world.js";
import { expectNothingLeft } from "./kill-loop.js";
import { type Sandbox, until } from "./sandbox.js";
import {
  countRan,
  failWith,
  isWaitedFor,
  pass,
  promptsOf,
  triggerBox,
  triggerLines,
  waitFor,
} from "./trigger-world.js";

/** One reviewer for everything: issues pass, the epic as the text says. */
const reviewer = (epic: string) => `if [ "$RATCHET_STAGE_ID" = epic_verification ]; then\n${epic}\nelse ${pass}; fi`;
/** Until the issue for what it found has landed. */
const untilFixed = `if ls shop-*.txt >/dev/null 2>&1; then ${pass}; else ${failWith("There is no manual")}; fi`;

const fires = { commands: { one: "true" }, triggers: { epic_completion: { commands: ["one"] } } };

async function withEpic(box: Sandbox): Promise<Sandbox> {
  await box.add("e", { body: "Acceptance: there is a manual", more: ["--type", "epic"] });
  for (const id of ["a", "b"]) await box.add(id, { more: ["--parent", "e"] });
  return box;
}
const board = async (box: Sandbox): Promise<{ id: string; title: string; parent: string; status: string }[]> =>
  JSON.parse(await box.quick("work", "list", "--all", "--json"));
const verified = (box: Sandbox) => countRan(box, "review run epic_verification");

test("an epic is completed after its reviewer has verified it, over the changes of its issues", async () => {
  const box = triggerBox({
    commands: { one: "true" },
    triggers: { epic_completion: { commands: ["one"] } },
    reviewer: reviewer(pass),
    more: { max_agents: 1 },
  });
  await box.add("before");
  expect((await box.ratchet("run")).code).toBe(0);
  await withEpic(box);
  const ended = await box.ratchet("run");
  expect([ended.code, await box.status("e"), verified(box)]).toEqual([0, "completed", 1]);
  expect(triggerLines(ended).filter((line) => line.includes("epic"))).toEqual([
    "[trigger] epic_verification started: epic_id=e",
    "[trigger] epic_verification completed: epic_id=e, result=pass",
    "[trigger] epic_completion started: epic_id=e",
    "[trigger] epic_completion completed: epic_id=e, result=pass",
  ]);
  const { run_id, issues } = await box.record();
  const [prompt = ""] = promptsOf(box, { run: run_id, issue: "_run", what: "review-command" });
  expect(prompt).toContain("Acceptance: there is a manual");
  expect(prompt).toContain(`- a: Do a (${issues.a?.commit})`);
  expect(prompt).toMatch(/\+implementer/);
  expect(prompt).not.toContain("before.txt");
  await expectNothingLeft(box, []);
});

test("B7 a run that leaves all reviews out completes no epic: the next one verifies it", async () => {
  const box = await withEpic(triggerBox({ commands: {}, triggers: {}, reviewer: reviewer(pass) }));
  const ended = await box.ratchet("run", "--disable-validations", "review");
  expect([ended.code, await box.status("e"), verified(box)]).toEqual([0, "available", 0]);
  expect(ended.stdout).toContain("epic e is due: the next run verifies it");
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await box.status("e"), verified(box)]).toEqual(["completed", 1]);
});

test("what a verification finds becomes an issue in the epic; when that is done it is verified again", async () => {
  const box = await withEpic(
    triggerBox({ commands: {}, triggers: {}, reviewer: reviewer(untilFixed), more: { max_agents: 1 } }),
  );
  const ended = await box.ratchet("run");
  const made = (await board(box)).find(({ id }) => !["e", "a", "b"].includes(id));
  expect(made).toMatchObject({ parent: "e", status: "completed", title: "What epic e still lacks: Do e" });
  expect([ended.code, await box.status("e"), verified(box)]).toEqual([0, "completed", 2]);
  expect(ended.stdout).toContain(`its verification failed (code_review); ${made?.id} is to be done first`);
  const findings = JSON.parse(await box.quick("findings", "e", "--all", "--json"));
  expect(findings).toMatchObject([{ issue_id: "e", title: "There is no manual", status: "resolved" }]);
});

test("a reviewer without a verdict completes nothing, and a failed verification fires epic_completion on failure", async () => {
  const box = await withEpic(
    triggerBox({
      commands: { one: "true" },
      triggers: { epic_completion: { fire_on: "failure", commands: ["one"] } },
      reviewer: reviewer("echo fine"),
    }),
  );
  const ended = await box.ratchet("run");
  expect([ended.code, await box.status("e"), verified(box)]).toEqual([1, "available", 3]);
  expect((await board(box)).map(({ id }) => id).sort()).toEqual(["a", "b", "e"]);
  expect(countRan(box, "one run")).toBe(1);
  // The next run finds it by itself.
  const { run_id } = await box.record();
  box.script("review.sh", `cat >/dev/null\n${pass}\n`);
  const again = await box.ratchet("run");
  expect([again.code, await box.status("e")]).toEqual([0, "completed"]);
  expect((await box.record()).run_id).not.toBe(run_id);
});

test("what Ratchet let go of an epic's verification is not told as waived by a person, whose word would end it", async () => {
  const box = await withEpic(triggerBox({ commands: {}, triggers: {}, reviewer: reviewer("echo fine") }));
  expect((await box.ratchet("run")).code).toBe(1);
  const small = '{"verdict":"pass","findings":[{"file":"a.txt","priority":3,"title":"A small thing","body":"b"}]}';
  const passing = `${waitFor("go")}\necho '${small}' >"$RATCHET_RESULT_FILE"`;
  box.script("review.sh", `cat >/dev/null\n${reviewer(passing)}\n`);
  const run = box.start(["run"]);
  await until("the epic is being verified", () => isWaitedFor(box, "go"));
  await box.add("late", { more: ["--parent", "e"] });
  await box.quick("work", "block", "late");
  box.put("go", "");
  await run.ended;
  expect(JSON.parse(await box.quick("findings", "e", "--all", "--json"))).toContainEqual(
    expect.objectContaining({ title: "A small thing", status: "waived", reason: "below threshold" }),
  );
  await box.quick("work", "complete", "late");
  const { reason, next } = JSON.parse(await box.quick("explain", "e", "--json"));
  expect(reason).toMatch(/in vain; the next run verifies it again$/);
  expect(next).toBe("ratchet run --scope epic:e");
});

test("an epic whose verification was killed in the middle is verified once more by whoever goes on, and completed once", async () => {
  const box = await withEpic(
    triggerBox({
      commands: { one: "true" },
      triggers: { epic_completion: { commands: ["one"] } },
      reviewer: reviewer(`${waitFor("go")}\n${pass}`),
    }),
  );
  const run = box.start(["run"]);
  await until("the epic is being verified", () => isWaitedFor(box, "go"));
  const shown = JSON.parse(await box.quick("status", "--json")).runs[0].issues;
  expect(shown).toContainEqual(expect.objectContaining({ issue_id: "_run", trigger: "epic_verification" }));
  expect((await box.ratchet("status")).stdout).toContain("_run: epic_verification");
  expect(await box.status("e")).toBe("claimed");
  const explained = async () => JSON.parse(await box.quick("explain", "e", "--json"));
  const { run_id: id } = await box.record();
  expect(await explained()).toMatchObject({ running: true, reason: `run ${id} verifies it now`, next: null });
  run.kill("SIGKILL");
  await run.ended;
  expect((await explained()).reason).toBe(`the process of run ${id}, which was verifying it, is gone`);
  box.put("go", "");
  const ended = await box.ratchet("run");
  expect([ended.code, await box.status("e"), countRan(box, "one run")]).toEqual([0, "completed", 1]);
  await expectNothingLeft(box, []);
});

test.each([
  ["a reviewer that finds something", failWith("There is no manual")],
  ["a reviewer without a verdict", "echo fine"],
])(
  "an epic that a person completes during its verification is done, whatever %s says then: no issue is made of it",
  async (_who, says) => {
    const box = await withEpic(
      triggerBox({ ...fires, reviewer: reviewer(`${waitFor("go")}\n${says}`), more: { max_agents: 1 } }),
    );
    const run = box.start(["run"]);
    await until("the epic is being verified", () => isWaitedFor(box, "go"));
    await box.quick("work", "complete", "e");
    box.put("go", "");
    const ended = await run.ended;
    expect([ended.code, await box.status("e"), (await board(box)).length]).toEqual([0, "completed", 3]);
    expect(triggerLines(ended)).toContain("[trigger] epic_verification skipped: epic_id=e, reason=not_due");
    expect(JSON.parse(await box.quick("findings", "e", "--json"))).toEqual([]);
  },
);

test.each([
  ["goes on", false],
  ["is killed, and taken up", true],
])(
  "an epic verified in vain that a person completes during the next verification is no failure: the run %s",
  async (_, isKilled) => {
    const finds = failWith("There is no manual");
    const says = `if ls shop-*.txt >/dev/null 2>&1; then ${waitFor("go")}\nfi\n${finds}`;
    const more = { max_agents: 1 };
    const box = await withEpic(triggerBox({ commands: {}, triggers: {}, reviewer: reviewer(says), more }));
    const run = box.start(["run"]);
    await until("the epic is being verified again", () => isWaitedFor(box, "go"));
    await box.quick("work", "complete", "e");
    if (isKilled) run.kill("SIGKILL");
    if (isKilled) await run.ended;
    box.put("go", "");
    const ended = isKilled ? await box.ratchet("run") : await run.ended;
    expect([ended.code, await box.status("e")]).toEqual([0, "completed"]);
  },
);

test("an epic whose last child a person completes is noticed by a run that goes on, and by the next", async () => {
  const box = triggerBox({
    commands: { one: "true" },
    triggers: { epic_completion: { commands: ["one"] } },
    agent: `test "$RATCHET_ISSUE_ID" != slow || { ${waitFor("go")}; }`,
    more: { max_agents: 2 },
  });
  await box.add("e", { more: ["--type", "epic"] });
  await box.add("a", { more: ["--parent", "e"] });
  await box.add("slow");
  await box.quick("work", "block", "a", "--reason", "by hand");
  const run = box.start(["run"]);
  await until("the other issue is worked on", () => isWaitedFor(box, "go"));
  await box.quick("work", "complete", "a");
  await until("the epic is completed", () => run.stdout().includes("[trigger] epic_completion completed: epic_id=e"));
  expect(run.stdout()).toContain("not verified: no reviewer is configured");
  box.put("go", "");
  expect((await run.ended).code).toBe(0);
  await box.add("f", { more: ["--type", "epic"] });
  await box.add("c", { more: ["--parent", "f"] });
  await box.quick("work", "complete", "c");
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await box.status("f"), countRan(box, "one run")]).toEqual(["completed", 2]);
});

test("an epic that depends on an issue is completed after it, and only then does what waits for the epic start", async () => {
  const box = triggerBox({
    commands: { one: "true" },
    triggers: { epic_completion: { commands: ["one"] } },
    reviewer: reviewer(pass),
    agent: `test "$RATCHET_ISSUE_ID" != slow || { ${waitFor("go")}; }`,
    more: { max_agents: 2 },
  });
  await box.add("first");
  await box.quick("work", "block", "first");
  await box.add("e", { more: ["--type", "epic", "--dep", "first"] });
  await box.add("a", { more: ["--parent", "e"] });
  await box.add("after", { more: ["--dep", "e"] });
  expect((await box.ratchet("run", "--dry-run")).stdout).not.toContain("after");
  const early = await box.ratchet("run");
  expect(await Promise.all(["a", "e", "after"].map((id) => box.status(id)))).toEqual([
    "completed",
    "available",
    "available",
  ]);
  expect([early.code, verified(box), triggerLines(early).filter((line) => line.includes("epic"))]).toEqual([0, 0, []]);
  expect(JSON.parse(await box.quick("explain", "e", "--json"))).toMatchObject({
    reason: "it is an epic whose issues are all completed; it waits for first (blocked)",
    blockers: ["first"],
  });
  await box.add("slow");
  const run = box.start(["run"]);
  await until("another issue is worked on", () => isWaitedFor(box, "go"));
  await box.quick("work", "unblock", "first");
  await until("what waits for the epic has landed", async () => (await box.status("after")) === "completed");
  box.put("go", "");
  const ended = await run.ended;
  expect([ended.code, await box.status("e"), verified(box), countRan(box, "one run")]).toEqual([0, "completed", 1, 1]);
});

test("an epic whose last dependency ends while every slot is taken is seen to as soon as one is free", async () => {
  const box = triggerBox({
    commands: {},
    triggers: {},
    agent: `case $RATCHET_ISSUE_ID in slow) ${waitFor("go")} ;; other) ${waitFor("go-other")} ;; esac`,
    more: { max_agents: 2 },
  });
  for (const id of ["slow", "first", "other"]) await box.add(id, id === "other" ? {} : { more: ["--priority", "0"] });
  await box.add("e", { more: ["--type", "epic", "--dep", "first"] });
  await box.add("a", { more: ["--parent", "e"] });
  await box.quick("work", "complete", "a");
  await box.add("after", { more: ["--dep", "e"] });
  const run = box.start(["run"]);
  await until("both slots are taken", () => isWaitedFor(box, "go") && isWaitedFor(box, "go-other"));
  await until("what the epic depends on has landed", async () => (await box.status("first")) === "completed");
  box.put("go-other", "");
  await until("what waits for the epic has landed", async () => (await box.status("after")) === "completed");
  box.put("go", "");
  expect([(await run.ended).code, await box.status("e")]).toEqual([0, "completed"]);
});

const drained = async (box: Sandbox, claimed: readonly string[] = []) => {
  const run = box.start(["run"]);
  await until("somebody waits", () => isWaitedFor(box, "go"));
  for (const id of claimed) await until(`${id} has begun`, async () => (await box.status(id)) === "claimed");
  run.kill("SIGINT");
  await until("it drains", () => run.stderr().includes("draining"));
  box.put("go", "");
  return await run.ended;
};

test("C10 an epic whose last issue ends while the run drains is completed by the next run, which fires for it", async () => {
  const box = await withEpic(triggerBox({ ...fires, agent: waitFor("go"), more: { max_agents: 2 } }));
  expect((await drained(box, ["a", "b"])).code).toBe(130);
  expect(await Promise.all(["a", "b", "e"].map((id) => box.status(id)))).toEqual([
    "completed",
    "completed",
    "available",
  ]);
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await box.status("e"), countRan(box, "one run")]).toEqual(["completed", 1]);
});

test("C10 a verification that passes while the run drains completes nothing: the next run verifies the epic again", async () => {
  const box = await withEpic(triggerBox({ ...fires, reviewer: reviewer(`${waitFor("go")}\n${pass}`) }));
  const ended = await drained(box);
  expect([ended.code, await box.status("e"), verified(box)]).toEqual([130, "available", 1]);
  expect(triggerLines(ended)).toContain("[trigger] epic_verification skipped: epic_id=e, reason=run_aborted");
  expect(ended.stdout).toContain("epic e is not completed, because the run ends: the next one verifies it");
  expect((await box.ratchet("run")).code).toBe(0);
  expect([await box.status("e"), verified(box), countRan(box, "one run")]).toEqual(["completed", 2, 1]);
});

test("an epic that cannot go on fires on failure, once, also when the rest waits for the issue that failed", async () => {
  const box = triggerBox({
    commands: { one: "true" },
    triggers: { epic_completion: { fire_on: "both", commands: ["one"] } },
    agent: "case $RATCHET_ISSUE_ID in bad*) exit 1 ;; esac",
    more: { max_agents: 1 },
  });
  await box.add("e", { more: ["--type", "epic"] });
  await box.add("bad", { more: ["--parent", "e"] });
  await box.add("later", { more: ["--parent", "e", "--dep", "bad"] });
  const ended = await box.ratchet("run");
  expect([ended.code, await box.status("e"), countRan(box, "one run")]).toEqual([1, "available", 1]);
  expect(ended.stdout).toContain("epic e failed: none of its issues can go on");
});

test("an epic fires on failure in the run in which its issue failed, not in another that has one of it done", async () => {
  const box = triggerBox({
    commands: { one: "true" },
    triggers: { epic_completion: { fire_on: "failure", commands: ["one"] } },
    agent: `case $RATCHET_ISSUE_ID in bad) exit 1 ;; slow) ${waitFor("go")} ;; esac`,
    more: { max_agents: 1 },
  });
  await box.add("e", { more: ["--type", "epic"] });
  for (const id of ["bad", "slow"]) await box.add(id, { more: ["--parent", "e"] });
  const slow = box.start(["run", "slow"]);
  await until("the other run is at work", () => isWaitedFor(box, "go"));
  const bad = await box.ratchet("run", "bad");
  expect([bad.code, countRan(box, "one run")]).toEqual([1, 1]);
  expect(bad.stdout).toContain("epic e failed: this run has nothing left to do, and slow can still go on without it");
  box.put("go", "");
  expect([(await slow.ended).code, countRan(box, "one run")]).toEqual([0, 1]);
  await box.add("late", { more: ["--parent", "e"] });
  expect([(await box.ratchet("run")).code, countRan(box, "one run")]).toEqual([0, 1]);
});

test("what the run's own reviewers cost is in its record, beside what each issue's did", async () => {
  const verdict = '{"verdict":"pass","findings":[],"usage":{"input_tokens":10,"output_tokens":5,"cost_usd":0.5}}';
  const box = await withEpic(
    triggerBox({
      commands: {},
      triggers: {},
      reviewer: `echo '${verdict}' >"$RATCHET_RESULT_FILE"`,
      more: { max_agents: 1, budgets: { run: { usd: 10 } } },
    }),
  );
  expect((await box.ratchet("run")).code).toBe(0);
  const { trigger_usage, issues } = await box.record();
  expect([trigger_usage, issues.a?.usage]).toEqual(
    Array(2).fill({ input_tokens: 10, output_tokens: 5, cost_usd: 0.5 }),
  );
});

test("an epic in beads is verified, lacks something, gets an issue, and is closed in the end", async () => {
  const beads = beadsWorld({ program: "bd", envelope: true });
  onTestFinished(beads.done);
  await beads.add({ id: "e", type: "epic" });
  await beads.add({ id: "a", parent: "e" });
  const fixed = `if ls bd-*.txt >/dev/null 2>&1; then ${pass}; else ${failWith("There is no manual")}; fi`;
  const box = triggerBox({
    commands: { one: "true" },
    triggers: { epic_completion: { fire_on: "both", commands: ["one"] } },
    reviewer: reviewer(fixed),
    more: { max_agents: 1, tracker: { type: "beads" } },
  });
  const env = { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` };
  const ended = await box.start(["run"], { env }).ended;
  expect(ended.code).toBe(0);
  const { issues } = beads.state();
  expect(issues.map(({ id, status }) => [id, status])).toEqual([
    ["e", "closed"],
    ["a", "closed"],
    ["bd-3", "closed"],
  ]);
  expect(beads.issue("e").close_reason).toBe("verified");
  expect([verified(box), countRan(box, "one run")]).toEqual([2, 2]);
});

/** Says yes to the epic where the work of both issues is. */
const seesBoth = `if [ -e a.txt ] && [ -e b.txt ]; then ${pass}; else ${failWith("Something is missing")}; fi`;

test("with finalize.mode branch an epic is verified once its branches are merged, and so is the epic above it", async () => {
  const more = { max_agents: 1, finalize: { mode: "branch" } };
  const box = triggerBox({ ...fires, reviewer: reviewer(seesBoth), more });
  await box.add("top", { more: ["--type", "epic"] });
  await box.add("e", { more: ["--type", "epic", "--parent", "top"] });
  for (const id of ["a", "b"]) await box.add(id, { more: ["--parent", "e"] });
  await box.add("after", { more: ["--dep", "e"] });
  const statuses = () => Promise.all(["e", "top", "after"].map((id) => box.status(id)));
  const first = await box.ratchet("run");
  expect([first.code, verified(box), countRan(box, "one run")]).toEqual([0, 0, 0]);
  expect(first.stdout).toContain("epic e is not completed yet: a is on ratchet/a and not merged yet");
  expect(await statuses()).toEqual(["available", "available", "available"]);
  expect(JSON.parse(await box.quick("explain", "e", "--json"))).toMatchObject({
    reason:
      "it is an epic whose issues are all completed; " +
      "a is on ratchet/a and not merged yet, b is on ratchet/b and not merged yet",
    blockers: ["a", "b"],
    next: "ratchet land a",
  });
  expect(JSON.parse(await box.quick("explain", "top", "--json"))).toMatchObject({ next: "ratchet explain e" });
  // The run that watches sees the merge by itself.
  const run = box.start(["run", "--watch"]);
  await until("it waits", () => run.stdout().includes("Waiting for new work"));
  expect(await box.ratchet("land", "a")).toMatchObject({ code: 0 });
  expect(verified(box)).toBe(0);
  box.git("merge", "--quiet", "--no-edit", "ratchet/b");
  await until("what waited for it is done", async () => (await box.status("after")) === "completed", 20_000);
  await until("the epic above is completed", async () => (await box.status("top")) === "completed");
  await until("that fires", () => run.stdout().includes("[trigger] epic_completion completed"));
  run.kill("SIGTERM");
  await run.ended;
  expect([verified(box), (await board(box)).length]).toEqual([2, 5]);
  expect(countRan(box, "one run")).toBe(1);
});

test("without a reviewer an epic is completed by the landing of its last branch, and a run without work says what it waits for", async () => {
  const box = await withEpic(triggerBox({ commands: {}, triggers: {}, more: { finalize: { mode: "branch" } } }));
  expect((await box.ratchet("run")).code).toBe(0);
  const told = await box.ratchet("run");
  expect([told.code, told.stderr]).toEqual([
    0,
    'nothing is ready: there is no open issue (ratchet work add "<title>")\n' +
      "epic e waits for ratchet/a, which is not merged yet (ratchet land a)\n",
  ]);
  box.git("merge", "--quiet", "ratchet/a");
  expect(await box.status("e")).toBe("available");
  expect((await box.ratchet("land", "b")).code).toBe(0);
  expect(await box.status("e")).toBe("completed");
});
