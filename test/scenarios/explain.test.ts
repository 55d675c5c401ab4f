import { join } from "node:path";
import { expect, test } from "vitest";
import type { Explanation } from "../../src/views/explain.js";
import { type Sandbox, sandbox, until } from "./sandbox.js";

/** Commits at once, unless told to wait for a file. */
function configure(box: Sandbox, { waits = false, max = 1 } = {}): void {
  const wait = `while [ ! -e ${box.root}/go ]; do sleep 0.05; done`;
  const work = `${waits ? wait : ":"}\necho x > "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m Did\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", work) }, max_agents: max });
}

async function explain(box: Sandbox, id: string): Promise<Explanation> {
  const { code, stdout, stderr } = await box.ratchet("explain", id, "--json");
  if (code !== 0) throw new Error(stdout + stderr);
  return JSON.parse(stdout);
}

test("explain says what keeps an issue from running and what to do", async () => {
  const box = sandbox();
  configure(box);
  for (const id of ["one", "held", "claimed", "sick"]) await box.add(id);
  await box.add("two", { more: ["--dep", "one", "--dep", "held"] });
  await box.add("big", { more: ["--type", "epic"] });
  await box.add("part", { more: ["--parent", "big"] });
  expect(await explain(box, "one")).toEqual({
    issue_id: "one",
    state: "available",
    running: false,
    reason: "ready, but nothing runs",
    blockers: [],
    next: "ratchet run",
  });
  await box.quick("work", "block", "held", "--reason", "waits for the bank");
  await box.quick("work", "claim", "claimed", "--as", "ada");
  for (const reason of ["a", "b", "needs a key"]) await box.quick("work", "fail", "sick", "--reason", reason);
  expect(await explain(box, "held")).toMatchObject({
    state: "blocked",
    reason: "blocked by an operator: waits for the bank",
    next: "ratchet work unblock held",
  });
  expect(await explain(box, "two")).toMatchObject({
    running: false,
    reason: "blocked by one (available), held (blocked)",
    blockers: ["one", "held"],
    next: "ratchet explain one",
  });
  expect(await explain(box, "claimed")).toMatchObject({
    reason: expect.stringMatching(/^claimed by hand, by ada, until/),
  });
  expect(await explain(box, "sick")).toMatchObject({ state: "quarantined", next: "ratchet retry sick" });
  expect(await explain(box, "big")).toMatchObject({ blockers: ["part"], next: "ratchet run --scope epic:big" });
  expect((await box.ratchet("explain", "two")).stdout).toBe(
    "two is not running: blocked by one (available), held (blocked)\nnext: ratchet explain one\n",
  );
});

test("a state home that cannot be used fails explain with 1, as any command that looks", async () => {
  const box = sandbox();
  const env = { RATCHET_HOME: box.put("a-file", "") };
  const ended = await Promise.all(["explain", "diff"].map((command) => box.start([command, "one"], { env }).ended));
  expect(ended.map(({ code }) => code)).toEqual([1, 1]);
});

test("an issue that cannot land says what a person has to do, in explain and status", async () => {
  const box = sandbox();
  configure(box, { waits: true });
  await box.add("one");
  const run = box.start(["run"]);
  await until("the agent is at work", () => run.stdout().includes("prompt implementer sent"));
  // What has landed meanwhile, and was taken back.
  const base = box.git("rev-parse", "HEAD");
  box.git("commit", "--quiet", "--allow-empty", "--message", "Landed");
  const mirror = join(box.home, "repos", "shop.git");
  box.git("push", "--quiet", mirror, "HEAD:refs/ratchet/landed/main", "HEAD:refs/ratchet/followed/main");
  box.git("update-ref", "refs/ratchet/landed/main", "HEAD");
  box.git("reset", "--quiet", "--hard", base);
  box.put("go", "");
  const said = "main was rewound: run `git merge refs/ratchet/landed/main`";
  await until("explain says so", async () => (await explain(box, "one")).reason.includes(said));
  expect(await explain(box, "one")).toMatchObject({
    running: false,
    reason: expect.stringContaining("(finalizing"),
    next: "git merge refs/ratchet/landed/main",
  });
  const { runs } = JSON.parse(await box.quick("status", "--json"));
  expect(runs[0].issues[0].waiting_for).toContain(said);
  box.git("merge", "--quiet", "refs/ratchet/landed/main");
  expect((await run.ended).code).toBe(0);
});

test("an issue whose target was deleted waits, says how to bring the branch back, and then lands", async () => {
  const box = sandbox();
  configure(box, { waits: true });
  await box.add("one");
  const run = box.start(["run"]);
  await until("the agent is at work", () => run.stdout().includes("prompt implementer sent"));
  box.git("checkout", "--quiet", "-b", "elsewhere");
  box.git("branch", "--quiet", "-D", "main");
  box.put("go", "");
  await until("explain says so", async () => (await explain(box, "one")).reason.includes("the branch main is gone"));
  const { next } = await explain(box, "one");
  expect(next).toBe(`git branch main ${box.git("rev-parse", "HEAD").slice(0, 12)}`);
  box.git(...(next ?? "").split(" ").slice(1));
  const { code, stdout } = await run.ended;
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining(`one: waiting: the branch main is gone: run \`${next}\`\n`),
  ]);
  expect(box.git("ls-tree", "--name-only", "main")).toContain("one.txt");
});

test("an issue that is not on the board is exit 1", async () => {
  const box = sandbox();
  const { code, stderr } = await box.ratchet("explain", "nope");
  expect([code, stderr]).toEqual([1, expect.stringContaining("nope is not on the board of shop")]);
  const json = await box.ratchet("explain", "nope", "--json");
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { error: { code: "not-found" } }]);
});

test("explain tells a running issue from one that waits for a slot, and a finished one from both", async () => {
  const box = sandbox();
  configure(box, { waits: true });
  await box.add("one", { more: ["--priority", "P0"] });
  await box.add("two");
  const run = box.start(["run"]);
  await until("the agent of one is at work", async () => (await explain(box, "one")).reason.includes("implementing"));
  const { runs } = JSON.parse(await box.quick("status", "--json"));
  const id = runs[0].run_id;
  expect(await explain(box, "one")).toEqual({
    issue_id: "one",
    state: "claimed",
    running: true,
    reason: `run ${id} is at work on it: implementing, attempt 1/3`,
    blockers: [],
    next: null,
  });
  expect(await explain(box, "two")).toMatchObject({
    state: "available",
    running: false,
    reason: `ready, waiting for a slot in run ${id} (1 agent at a time, it is next)`,
  });
  run.kill("SIGKILL");
  await run.ended;
  expect(await explain(box, "one")).toMatchObject({
    running: false,
    reason: `the process of run ${id}, which has it (implementing, attempt 1/3), is gone`,
    next: "ratchet run",
  });
  box.put("go", "");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(await explain(box, "one")).toMatchObject({ state: "completed", reason: "completed", next: null });
});

test("explain tells what failed, and that a transient failure is waited out", async () => {
  const box = sandbox();
  const agent = box.script("agent", '[ "$RATCHET_ISSUE_ID" = slow ] && exit 75; echo broken >&2; exit 9\n');
  box.configure({ agent: { type: "command", command: agent, backoff_seconds: [600] }, max_agents: 2 });
  await box.add("slow");
  await box.add("bad");
  const run = box.start(["run"]);
  await until("slow waits", async () => (await explain(box, "slow")).reason.includes("waiting until"));
  await until("bad has failed", async () => (await box.status("bad")) === "failed");
  expect(await explain(box, "slow")).toMatchObject({
    state: "claimed",
    running: false,
    reason: expect.stringMatching(/^claimed by run \S+ \(implementing, attempt 1\/3\), waiting until \d{4}-/),
  });
  run.kill("SIGTERM");
  await run.ended;
  const bad = await explain(box, "bad");
  expect(bad).toMatchObject({ state: "failed", next: "ratchet run --resume bad" });
  expect(bad.reason).toMatch(/^failed: \w+/);
  expect(await explain(box, "slow")).toMatchObject({
    state: "available",
    reason: expect.stringMatching(/^stopped in run \S+, but nothing runs$/),
    next: "ratchet run --resume slow",
  });
});

test("a turn that goes on with an issue may wait for a slot too", async () => {
  const box = sandbox();
  const here = (name: string) => `${box.root}/${name}`;
  const wait = (name: string) => `until [ -e ${here(name)} ]; do sleep 0.05; done`;
  const two = `if [ "$RATCHET_ISSUE_ID" = two ]; then touch ${here("started")}; ${wait("go")}; fi`;
  const agent = box.script("agent", `${two}\ndate +%N >> "$RATCHET_ISSUE_ID.txt"; git add -A; git commit -q -m Did\n`);
  // Fails on the first commit of one, once two has taken the slot that its agent left.
  const gate = box.script("gate", `[ -e two.txt ] && exit 0; ${wait("started")}; [ "$(wc -l < one.txt)" -gt 1 ]\n`);
  const commands = { test: gate.join(" ") };
  const evidence_check = { required: ["test"] };
  box.configure({ agent: { type: "command", command: agent }, max_agents: 1, commands, evidence_check });
  await box.add("one", { more: ["--priority", "P0"] });
  await box.add("two");
  const run = box.start(["run"]);
  // Its first turn waits for a moment too, so it is the second that is waited for.
  const again = /^claimed by run \S+ \(implementing, attempt 2\/3\), waiting for a slot$/;
  await until("one waits for a slot again", async () => again.test((await explain(box, "one")).reason));
  expect(await explain(box, "one")).toMatchObject({
    state: "claimed",
    running: false,
    reason: expect.stringMatching(again),
    next: "ratchet status",
  });
  box.put("go", "");
  expect((await run.ended).code).toBe(0);
});

test("explain of an epic looks through the epics in it, so that what it says helps", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent", "cat >/dev/null; exit 1\n") } });
  await box.add("top", { more: ["--type", "epic"] });
  await box.add("inner", { more: ["--type", "epic", "--parent", "top"] });
  await box.add("bad", { more: ["--parent", "inner"] });
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await explain(box, "top")).toMatchObject({
    reason: "it is an epic, which is never run itself; of its issues bad (failed) is not completed",
    blockers: ["bad"],
    next: "ratchet run --resume --scope epic:top",
  });
  await box.quick("work", "complete", "bad");
  expect((await explain(box, "top")).next).toBe("ratchet explain inner");
  expect((await explain(box, "inner")).next).toBe("ratchet run --scope epic:inner");
});
