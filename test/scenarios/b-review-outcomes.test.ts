import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ResumeWorld, resumeWorld, says } from "./resume-world.js";
import { eventsOf, until } from "./sandbox.js";

/** What blocks, what happens when the rounds are used up, and what becomes of what does not block. */
const naming = { file: "b.ts", line_start: 5, line_end: 5, priority: 2, title: "Naming", body: "call it y" };

test.each([
  ["none", [0, 1]],
  ["P0", [0]],
  ["P1", [0, 1]],
  ["P2", [0, 1, 2]],
  ["P3", [0, 1, 2, 3]],
])("B8 finding_threshold %s: exactly these priorities block and are stored: %j", async (finding_threshold, blocks) => {
  const world = resumeWorld({ finding_threshold, max_retries: 1, track_review_issues: false });
  const priorities = [0, 1, 2, 3, null];
  for (const priority of priorities) {
    const id = `p${priority}`;
    await world.add(id);
    world.reviewerDoes(id, says("fail", { ...naming, priority }));
  }
  await world.ratchet("run");
  const { issues } = await world.record();
  const failed = priorities.filter((priority) => issues[`p${priority}`]?.status === "failed");
  expect(failed).toEqual(blocks);
  for (const priority of priorities) {
    const kept = issues[`p${priority}`]?.last_review_issues ?? null;
    if (priority !== null && blocks.includes(priority)) expect(kept).toMatchObject([{ title: "Naming", priority }]);
    else expect(kept).toBeNull();
  }
});

test("B8 pass with a blocking finding is no pass; fail with only others is one", async () => {
  const world = resumeWorld({ max_retries: 1, track_review_issues: false });
  for (const id of ["says-pass", "says-fail"]) await world.add(id);
  world.reviewerDoes("says-pass", says("pass", { title: "Wrong", priority: 0 }));
  world.reviewerDoes("says-fail", says("fail", naming));
  expect((await world.ratchet("run")).code).toBe(1);
  expect(await world.issue("says-pass")).toMatchObject({ status: "failed", error: "review_failed" });
  expect(await world.issue("says-fail")).toMatchObject({ status: "success", review_attempts: 1 });
});

const wrong = { title: "Wrong", priority: 1 };

test("B8 failure_mode continue: this issue fails, the others go on, exit 1", async () => {
  const world = resumeWorld({ max_retries: 1, failure_mode: "continue" });
  for (const id of ["bad", "good"]) await world.add(id);
  world.reviewerDoes("bad", says("fail", wrong));
  expect((await world.ratchet("run", "--max-agents", "1")).code).toBe(1);
  expect(await world.status("bad")).toBe("failed");
  expect(await world.status("good")).toBe("completed");
});

test("B8 failure_mode abort: the run aborts, what is in flight fails run_aborted, the rest never starts, exit 3", async () => {
  const world = resumeWorld({ max_retries: 1, failure_mode: "abort" });
  for (const id of ["culprit", "in-flight"]) await world.add(id);
  await world.add("waiting", { more: ["--dep", "culprit"] });
  world.agentDoes("in-flight", ': >"$HOME/in-flight"; sleep 60');
  world.reviewerDoes("culprit", `while [ ! -e "$HOME/in-flight" ]; do sleep 0.05; done; ${says("fail", wrong)}`);
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(3);
  const { issues, status } = await world.record();
  expect(status).toBe("aborted");
  expect(Object.keys(issues).sort()).toEqual(["culprit", "in-flight"]);
  expect(issues.culprit).toMatchObject({
    status: "failed",
    error: "failure_mode_abort",
    last_review_issues: [{ title: "Wrong" }],
  });
  expect(issues["in-flight"]).toMatchObject({ status: "failed", error: "run_aborted" });
  expect(await world.status("waiting")).toBe("available");
  expect(world.sent("waiting")).toEqual([]);
});

test("B8 failure_mode remediate: fixers get the findings max_retries more times, then the issue fails", async () => {
  const world = resumeWorld({ max_retries: 2, failure_mode: "remediate" });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", wrong, naming));
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(1);
  const sent = world.sent("fix-it");
  expect(sent.map(({ kind, attempt }) => `${kind} ${attempt}`)).toEqual([
    "implementer 1",
    "review_followup 2",
    "fixer 1",
    "fixer 2",
  ]);
  expect(sent.slice(2).map(({ session }) => session)).toEqual(["new", "new"]);
  for (const { text } of sent.slice(2)) {
    expect(text).toContain("Wrong");
    expect(text).toContain("Naming");
  }
  expect(eventsOf(run).filter(({ type }) => type === "review-ended")).toHaveLength(4);
  expect(await world.issue("fix-it")).toMatchObject({
    status: "failed",
    error: "review_failed",
    session_id: "session-fix-it-00",
    gate_attempts: 4,
    last_review_issues: [{ title: "Wrong" }],
  });
});

test("B8 failure_mode remediate: a fixer that helps lets the issue succeed", async () => {
  const world = resumeWorld({ max_retries: 1, failure_mode: "remediate" });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", `if grep -q fixer fix-it.txt; then ${says("pass")}\nelse ${says("fail", wrong)}\nfi`);
  expect((await world.ratchet("run")).code).toBe(0);
  expect(world.sent("fix-it").map(({ kind }) => kind)).toEqual(["implementer", "fixer"]);
  expect(world.git("show", "main:fix-it.txt")).toBe("implementer 1\nfixer 1");
});

test("B8 failure_mode remediate: a fixer that crashes counts, and the next one gets the findings in a new session", async () => {
  const world = resumeWorld({ max_retries: 2, failure_mode: "remediate" });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", `if grep -q fixer fix-it.txt; then ${says("pass")}\nelse ${says("fail", wrong)}\nfi`);
  world.agentDoes("fix-it", '[ "$RATCHET_PROMPT_KIND $RATCHET_ATTEMPT" = "fixer 1" ] && exit 7');
  expect((await world.ratchet("run")).code).toBe(0);
  const fixers = world.sent("fix-it").filter(({ kind }) => kind === "fixer");
  expect(fixers.map(({ attempt, session }) => `${attempt} ${session}`)).toEqual(["1 new", "2 new"]);
  for (const { text } of fixers) expect(text).toContain("Wrong");
});

test("B8 failure_mode remediate: a gate that fails goes into that fixer's session, the record keeps the implementer's", async () => {
  const world = resumeWorld({ max_retries: 1, failure_mode: "remediate" });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", `if grep -q fixer fix-it.txt; then ${says("pass")}\nelse ${says("fail", wrong)}\nfi`);
  world.agentDoes(
    "fix-it",
    "case $RATCHET_PROMPT_KIND in fixer) touch broken ;; gate_followup) git rm --quiet broken ;; esac",
  );
  expect((await world.ratchet("run")).code).toBe(0);
  expect(world.sent("fix-it").map(({ kind, session }) => `${kind} ${session}`)).toEqual([
    "implementer new",
    "fixer new",
    "gate_followup session-fix-it-01",
  ]);
  expect((await world.issue("fix-it")).session_id).toBe("session-fix-it-00");
});

test("B8 a finding that is waived while it is under review no longer blocks", async () => {
  const world = resumeWorld({ max_retries: 2 });
  await world.add("fix-it");
  world.reviewerDoes(
    "fix-it",
    `if [ "$RATCHET_ATTEMPT" = 2 ]; then : >"$HOME/reviewing"; while [ ! -e "$HOME/waived" ]; do sleep 0.05; done; fi; ${says("fail", wrong)}`,
  );
  const run = world.start(["run"]);
  await until("round 2", () => existsSync(join(world.root, "reviewing")));
  const [finding] = JSON.parse(await world.quick("findings", "fix-it", "--json"));
  const waived = await world.ratchet("findings", "waive", finding.id, "--reason", "it is meant to be so");
  expect(waived.stdout).toContain("has been told");
  const status = async () => JSON.parse(await world.quick("findings", "--all", "--json"))[0].status;
  await until("the waiver has been taken", async () => (await status()) === "waived");
  world.put("waived", "");
  expect((await run.ended).code).toBe(0);
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", review_attempts: 2 });
});

interface Item {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly priority: number | string;
  readonly status: string;
  readonly source: string;
}
async function followUps(world: ResumeWorld): Promise<Item[]> {
  const items: Item[] = JSON.parse(await world.quick("work", "list", "--all", "--json"));
  return items.filter(({ source }) => source === "review-followup");
}

test("B8 what does not block becomes one follow-up issue per source issue, not taken by the run that made it", async () => {
  const world = resumeWorld();
  for (const id of ["one", "two"]) await world.add(id);
  // The same things in both rounds of `one`, once in other words: each is told once.
  const taste = { ...naming, title: "Could be shorter", priority: 3, file: "c.ts" };
  world.reviewerDoes(
    "one",
    `if [ "$RATCHET_ATTEMPT" = 1 ]; then ${says("fail", wrong, naming, taste)}\nelse ${says("pass", naming, { ...taste, line_start: 6, line_end: 6 })}\nfi`,
  );
  const long = "very long ".repeat(1000);
  world.reviewerDoes("two", says("pass", { ...naming, priority: null, body: long }));
  expect((await world.ratchet("run")).code).toBe(0);
  const made = await followUps(world);
  expect(made.map(({ title }) => title).sort()).toEqual(["Follow-up of one: Do one", "Follow-up of two: Do two"]);
  for (const item of made) expect(item).toMatchObject({ status: "available" });
  const [first] = made.filter(({ title }) => title.includes("one"));
  expect(first?.body.match(/Naming/g)).toHaveLength(1);
  expect(first?.body.match(/Could be shorter/g)).toHaveLength(1);
  expect(first?.body).not.toContain("Wrong");
  expect(made.find(({ title }) => title.includes("two"))?.body).toContain(long.trim());
  expect(Object.keys((await world.record()).issues).sort()).toEqual(["one", "two"]);
  const closed = JSON.parse(await world.quick("findings", "one", "--all", "--json"));
  expect(closed.filter(({ status }: { status: string }) => status === "waived")).toMatchObject([
    { reason: `tracked as ${first?.id}` },
    { reason: `tracked as ${first?.id}` },
  ]);
  // The next run takes them; a follow-up makes none of its own.
  for (const { id } of made) world.reviewerDoes(id, says("pass", { ...naming, title: "Yet another" }));
  expect((await world.ratchet("run")).code).toBe(0);
  expect(await followUps(world)).toHaveLength(2);
  for (const { id } of made) expect(await world.status(id)).toBe("completed");
  expect(world.sent(first?.id ?? "")[0]?.text).toContain("call it y");
});

test("B8 track_review_issues off: no follow-up, the findings are waived as below the threshold", async () => {
  const world = resumeWorld({ track_review_issues: false });
  await world.add("one");
  world.reviewerDoes("one", says("pass", naming));
  expect((await world.ratchet("run")).code).toBe(0);
  expect(await followUps(world)).toEqual([]);
  const all = JSON.parse(await world.quick("findings", "one", "--all", "--json"));
  expect(all).toMatchObject([{ title: "Naming", status: "waived", reason: "below threshold" }]);
});

test("B8 an issue that fails makes no follow-up", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("one");
  world.reviewerDoes("one", says("fail", wrong, naming));
  expect((await world.ratchet("run")).code).toBe(1);
  expect(await followUps(world)).toEqual([]);
  world.reviewerDoes("one", says("pass"));
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(await followUps(world)).toEqual([]);
});
