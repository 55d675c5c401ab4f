import { expect, test } from "vitest";
import { type ResumeWorld, resumeWorld, says } from "./resume-world.js";

/** What a run leaves for a resume, and what the resume makes of it. */
const nullDeref = { file: "a.ts", line_start: 10, line_end: 12, priority: 0, title: "Null deref", body: "x is null" };
const naming = { file: "b.ts", line_start: 5, line_end: 5, priority: 2, title: "Naming", body: "call it y" };

async function stored(world: ResumeWorld, issue = "fix-it", run?: string) {
  return (await world.issue(issue, run)).last_review_issues ?? null;
}

test("A1 what blocked in the last round is stored, whole, and nothing else", async () => {
  const world = resumeWorld({ max_retries: 3 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", { ...nullDeref, reviewer: "ada" }, naming));
  expect((await world.ratchet("run")).code).toBe(1);
  const issue = await world.issue("fix-it");
  expect(issue).toMatchObject({ status: "failed", error: "review_failed", review_attempts: 3, gate_attempts: 3 });
  expect(issue.last_review_issues).toEqual([{ ...nullDeref, reviewer: "ada" }]);
  expect(world.sent("fix-it").map(({ kind, attempt }) => `${kind} ${attempt}`)).toEqual([
    "implementer 1",
    "review_followup 2",
    "review_followup 3",
  ]);
});

test("A5 only findings below the threshold: the issue succeeds and nothing is stored", async () => {
  const world = resumeWorld({ track_review_issues: false });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", naming, { title: "Taste", priority: 3 }, { title: "Hm", priority: null }));
  expect((await world.ratchet("run")).code).toBe(0);
  expect(await stored(world)).toBeNull();
});

test("A5 the gate is used up before any review: nothing is stored, and a resume sends the implementer prompt with the gate's findings", async () => {
  const world = resumeWorld({}, { max_gate_retries: 2 });
  await world.add("fix-it");
  world.agentDoes("fix-it", 'echo "$RATCHET_PROMPT_KIND" >>broken');
  expect((await world.ratchet("run")).code).toBe(1);
  expect(await world.issue("fix-it")).toMatchObject({
    error: "gate_failed",
    last_review_issues: null,
    review_attempts: 0,
  });
  world.agentDoes("fix-it", "git rm --quiet broken");
  const again = await world.ratchet("run", "--resume");
  expect(again.code).toBe(0);
  expect(again.stdout).not.toContain("Using review_followup");
  const last = world.sent("fix-it").at(-1);
  expect(last).toMatchObject({ kind: "implementer", session: "session-fix-it-00" });
  expect(last?.text).toContain("check failed: exit 1");
});

test("A5 the last review passed and the issue failed later: nothing is stored", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  // Round 1 blocks, round 2 passes, then landing meets a conflict that the agent does not survive.
  world.reviewerDoes(
    "fix-it",
    `if [ "$RATCHET_ATTEMPT" = 1 ]; then ${says("fail", nullDeref)}\nelse ${says("pass")}\nfi`,
  );
  world.agentDoes(
    "fix-it",
    `
case $RATCHET_PROMPT_KIND in
  implementer) echo mine >README.md ;;
  review_followup) (cd "$HOME/shop" && echo yours >README.md && git commit --quiet --all --message "A person's word") ;;
  gate_followup) echo "I give up" >&2; exit 1 ;;
esac`,
  );
  expect((await world.ratchet("run")).code).toBe(1);
  expect(await world.issue("fix-it")).toMatchObject({ error: "agent_failed", review_attempts: 2 });
  expect(await stored(world)).toBeNull();
});

test("A5 the review failed and then the gate fails for good: the findings are stored", async () => {
  const world = resumeWorld({}, { max_gate_retries: 1 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", nullDeref, naming));
  world.agentDoes("fix-it", 'if [ "$RATCHET_PROMPT_KIND" = review_followup ]; then touch broken; fi');
  expect((await world.ratchet("run")).code).toBe(1);
  expect(await world.issue("fix-it")).toMatchObject({ error: "gate_failed", review_attempts: 1 });
  expect(await stored(world)).toEqual([{ ...nullDeref, reviewer: "command" }]);
});

test("A5 the review failed and then the turn runs out of time: the findings are stored", async () => {
  const world = resumeWorld({}, { timeout_minutes: 0.1 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", nullDeref));
  world.agentDoes("fix-it", 'if [ "$RATCHET_PROMPT_KIND" = review_followup ]; then sleep 60; fi');
  expect((await world.ratchet("run")).code).toBe(1);
  expect(await world.issue("fix-it")).toMatchObject({ error: "turn_timeout" });
  expect(await stored(world)).toMatchObject([{ title: "Null deref" }]);
});

test("A5 the review failed, and a later run that is no resume ends before any review: the findings are stored", async () => {
  const world = resumeWorld({ max_retries: 1 }, { max_gate_retries: 1 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", nullDeref, naming));
  expect((await world.ratchet("run")).code).toBe(1);
  await world.quick("retry", "fix-it");
  world.agentDoes("fix-it", "touch broken");
  expect((await world.ratchet("run")).code).toBe(1);
  expect(world.sent("fix-it").map(({ kind }) => kind)).toEqual(["implementer", "implementer"]);
  expect(await world.issue("fix-it")).toMatchObject({ error: "gate_failed", review_attempts: 0 });
  expect(await stored(world)).toEqual([{ ...nullDeref, reviewer: "command" }]);
  world.agentDoes("fix-it", "git rm --quiet broken");
  world.reviewerDoes("fix-it", says("pass"));
  const again = await world.ratchet("run", "--resume");
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("Using review_followup") });
  expect(await stored(world)).toBeNull();
});

test("A6 resumed and passed: the newest record has none, and a further resume replays nothing", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", nullDeref));
  await world.ratchet("run");
  world.reviewerDoes("fix-it", says("pass"));
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(await stored(world)).toBeNull();
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("fix-it")).toHaveLength(2);
  expect(JSON.parse(await world.quick("findings", "fix-it", "--json"))).toEqual([]);
});

test("A6 resumed and failed again: only the new set is stored, and each resume starts at attempt 1", async () => {
  const world = resumeWorld({ max_retries: 2 });
  await world.add("fix-it");
  const rounds: [string, string[]][] = [
    ["First thing", ["implementer 1", "review_followup 2"]],
    ["Second thing", ["review_followup 1", "review_followup 2"]],
    ["Third thing", ["review_followup 1", "review_followup 2"]],
  ];
  let before = 0;
  for (const [title, prompts] of rounds) {
    world.reviewerDoes("fix-it", says("fail", { title, file: `${title}.ts` }));
    expect((await world.ratchet("run", "--resume")).code).toBe(1);
    expect(await stored(world)).toMatchObject([{ title }]);
    const sent = world.sent("fix-it").slice(before);
    expect(sent.map(({ kind, attempt }) => `${kind} ${attempt}`)).toEqual(prompts);
    before += sent.length;
  }
  const [, , resumed] = world.sent("fix-it").slice(2);
  expect(resumed?.text).toContain("Second thing");
  expect(resumed?.text).not.toContain("First thing");
});

test("A6 resumed and failed before any review: the new record carries the old findings, again and again", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", nullDeref, naming));
  await world.ratchet("run");
  const first = (await world.record()).run_id;
  world.agentDoes("fix-it", "exit 3");
  for (let life = 2; life <= 3; life++) {
    expect((await world.ratchet("run", "--resume")).code).toBe(1);
    expect(await world.issue("fix-it")).toMatchObject({ error: "agent_failed", session_id: "session-fix-it-00" });
    expect(await stored(world)).toEqual([{ ...nullDeref, reviewer: "command" }]);
  }
  expect((await world.record()).run_id).not.toBe(first);
  world.agentDoes("fix-it", ":");
  world.reviewerDoes("fix-it", says("pass"));
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("fix-it").map(({ kind }) => kind)).toEqual(["implementer", ...Array(3).fill("review_followup")]);
  expect(await stored(world)).toBeNull();
});

test.each([
  ["resumed", ["--resume"]],
  ["retried and run", []],
])("A6 %s and nothing changed: no progress at once, no gate, no review, and the findings stay", async (_how, flags) => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", nullDeref));
  await world.ratchet("run");
  world.reviewerDoes("fix-it", says("pass"));
  world.agentDoes("fix-it", 'echo "It is fine as it is"; exit 0');
  if (flags.length === 0) await world.quick("retry", "fix-it");
  expect((await world.ratchet("run", ...flags)).code).toBe(1);
  expect(await world.issue("fix-it")).toMatchObject({ error: "no_progress", gate_attempts: 0, review_attempts: 0 });
  expect(await stored(world)).toMatchObject([{ title: "Null deref" }]);
  expect(await world.status("fix-it")).toBe("failed");
});
