import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { logLines, type ResumeWorld, resumeWorld, says } from "./resume-world.js";
import { attemptsOf, eventsOf, until } from "./sandbox.js";

/** Into which session a resume goes, and with which prompt. */
const blocking = { file: "a.ts", line_start: 10, line_end: 12, priority: 1, title: "Null deref", body: "x is null" };
const other = { file: "b.ts", line_start: 5, line_end: 5, priority: 2, title: "Naming", body: "call it y" };

/** `issues` have each failed one round of review. */
async function failedWorld(issues: readonly string[], more: object = {}): Promise<ResumeWorld> {
  const world = resumeWorld({ max_retries: 1 }, more);
  for (const issue of issues) {
    await world.add(issue);
    world.reviewerDoes(issue, says("fail", blocking, other));
  }
  expect((await world.ratchet("run")).code).toBe(1);
  for (const issue of issues) world.reviewerDoes(issue, says("pass"));
  return world;
}

test.each(["--resume", "--prioritize-wip"])("A2 run %s sends one prompt into the restored session", async (flag) => {
  const world = await failedWorld(["fix-it"]);
  const first = await world.record();
  const commands = { check: "test ! -e broken", lint: "echo linted" };
  const review = { ...world.settings.per_issue_review, max_retries: 3 };
  world.configure({ ...world.settings, commands, per_issue_review: review });
  await world.add("new-one", { more: ["--priority", "P0"] });
  const run = await world.ratchet("run", flag, "--max-agents", "1", "--json");
  expect(run.code).toBe(0);
  const [, resumed, ...more] = world.sent("fix-it");
  expect(more).toEqual([]);
  expect(resumed).toMatchObject({ kind: "review_followup", session: "session-fix-it-00", attempt: "1" });
  expect(resumed?.text).toMatch(/issue fix-it .*attempt 1 of 3/s);
  for (const word of ["a.ts:10-12", "Null deref", "x is null", "check: test ! -e broken", "echo linted"]) {
    expect(resumed?.text).toContain(word);
  }
  for (const word of ["Naming", "call it y", "You are working on issue"]) expect(resumed?.text).not.toContain(word);
  const second = await world.record();
  const line = `Using review_followup for resume: 1 issues from prior run ${first.run_id}`;
  expect(logLines(world, second.run_id).filter((one) => one.includes(line))).toHaveLength(1);
  const prompts = eventsOf(run).filter((event) => event.type === "prompt-sent" && event.role === "implementer");
  expect(prompts).toMatchObject([
    { issue_id: "fix-it", kind: "review_followup", attempt: 1, max_attempts: 3 },
    { issue_id: "new-one", kind: "implementer" },
  ]);
});

test("A2 the first review after a resume gets the earlier findings and the agent's answer to them", async () => {
  const world = await failedWorld(["fix-it"]);
  world.agentDoes("fix-it", 'echo "I have looked at every one"');
  world.reviewerDoes("fix-it", `cp "$RATCHET_RESULT_FILE.prompt" "$HOME/review-prompt"; ${says("pass")}`);
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  const asked = readFileSync(join(world.root, "review-prompt"), "utf8");
  expect(asked).toContain("Null deref");
  expect(asked).toContain("I have looked at every one");
});

test("A2 more findings than a life can list: every blocking one is replayed, none of the others", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  const many = Array.from({ length: 130 }, (_, n) => ({
    title: `Defect number${n} unlike`,
    file: `f${n}.ts`,
    body: "b",
  }));
  world.reviewerDoes("fix-it", says("fail", ...many, other));
  expect((await world.ratchet("run")).code).toBe(1);
  expect((await world.issue("fix-it")).last_review_issues).toHaveLength(130);
  world.reviewerDoes("fix-it", says("pass"));
  const run = await world.ratchet("run", "--resume");
  expect(run.stdout).toContain("Using review_followup for resume: 130 issues");
  const text = world.sent("fix-it").at(-1)?.text ?? "";
  expect(many.filter(({ title }) => !text.includes(title))).toEqual([]);
  expect(text).not.toContain("Naming");
});

test("A2 a reviewer's absolute paths reach the agent relative to the repository", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  world.reviewerDoes(
    "fix-it",
    says("fail", { title: "Odd", file: "@/src/a.ts" }).replace("@", "$PWD").replaceAll("'VERDICT'", "VERDICT"),
  );
  expect((await world.ratchet("run")).code).toBe(1);
  expect((await world.issue("fix-it")).last_review_issues).toMatchObject([{ file: "src/a.ts" }]);
});

test("A3 run --resume of an issue that never ran: the implementer prompt in a new session", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  const run = await world.ratchet("run", "--resume");
  expect(run.code).toBe(0);
  expect(world.sent("fix-it")).toMatchObject([{ kind: "implementer", session: "new" }]);
  expect(run.stdout).not.toContain("Using review_followup");
});

const forgets = 'if [ -n "$RATCHET_SESSION_ID" ]; then rm "$RATCHET_RESULT_FILE"; exit 66; fi';

test("A7 the session is gone: once more, in a fresh session, with the same prompt", async () => {
  const world = await failedWorld(["fix-it"]);
  world.agentDoes("fix-it", forgets);
  const run = await world.ratchet("run", "--resume");
  expect(run.code).toBe(0);
  const [, stale, fresh, ...more] = world.sent("fix-it");
  expect(more).toEqual([]);
  expect(stale).toMatchObject({ kind: "review_followup", session: "session-fix-it-00", attempt: "1" });
  expect(fresh).toMatchObject({ kind: "review_followup", session: "new", attempt: "1" });
  expect(fresh?.text).toBe(stale?.text);
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", session_id: "session-fix-it-02" });
  expect(run.stdout.match(/Using review_followup for resume/g)).toHaveLength(1);
});

test("A7 an agent that knows no session at all fails after the second try, and the findings are kept", async () => {
  const world = await failedWorld(["fix-it"]);
  world.agentDoes("fix-it", 'rm "$RATCHET_RESULT_FILE"; exit 66');
  expect((await world.ratchet("run", "--resume")).code).toBe(1);
  expect(
    world
      .sent("fix-it")
      .slice(1)
      .map(({ session }) => session),
  ).toEqual(["session-fix-it-00", "new"]);
  expect(await world.issue("fix-it")).toMatchObject({
    status: "failed",
    last_review_issues: [{ title: "Null deref" }],
  });
});

test("A7 --strict: the issue whose session is gone fails and says so, the others go on", async () => {
  const world = await failedWorld(["gone", "there"]);
  world.agentDoes("gone", forgets);
  expect((await world.ratchet("run", "--resume", "--strict")).code).toBe(1);
  expect(await world.issue("gone")).toMatchObject({
    status: "failed",
    error: "session_not_found",
    message: expect.stringContaining("session-gone-00"),
    last_review_issues: [{ title: "Null deref" }],
  });
  expect(world.sent("gone")).toHaveLength(2);
  expect(await world.issue("there")).toMatchObject({ status: "success" });
});

test("A7 --fresh: a new session whose prompt is the implementer's, followed by the findings", async () => {
  const world = await failedWorld(["fix-it"]);
  expect((await world.ratchet("run", "--resume", "--fresh")).code).toBe(0);
  const [, fresh] = world.sent("fix-it");
  expect(fresh).toMatchObject({ kind: "implementer", session: "new" });
  expect(fresh?.text).toContain("You are working on issue");
  expect(fresh?.text).toContain("Null deref");
  expect(fresh?.text).not.toContain("Naming");
});

test.each([["--strict"], ["--fresh"]])("A7 %s without --resume: exit 2 and nothing starts", async (flag) => {
  const world = resumeWorld();
  await world.add("fix-it");
  const run = await world.ratchet("run", flag);
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain("--resume");
  expect(world.sent("fix-it")).toEqual([]);
});

test("A9 killed after the last failed review, before anything else: --resume has session and findings", async () => {
  const world = resumeWorld({ max_retries: 2 });
  await world.add("fix-it");
  // The reviewer of the last round takes Ratchet with it as soon as its verdict is out.
  world.reviewerDoes("fix-it", says("fail", blocking, other));
  const run = world.start(["run", "--json"]);
  run.onLine((line) => {
    if (line.includes('"review-ended"') && line.includes('"attempt":2')) run.kill("SIGKILL");
  });
  await run.ended;
  const killed = await world.issue("fix-it");
  expect(killed).toMatchObject({ session_id: "session-fix-it-00", last_review_issues: [{ title: "Null deref" }] });
  world.reviewerDoes("fix-it", says("pass"));
  const resumed = await world.ratchet("run", "--resume");
  const sent = world.sent("fix-it");
  expect(sent.map(({ kind, attempt }) => `${kind} ${attempt}`)).toEqual([
    "implementer 1",
    "review_followup 2",
    "review_followup 1",
  ]);
  expect(sent.at(-1)).toMatchObject({ session: "session-fix-it-00" });
  expect(sent.at(-1)?.text).toContain("Null deref");
  expect(resumed.stdout).toContain("Using review_followup for resume: 1 issues");
  expect(await world.status("fix-it")).toBe("completed");
});

test("A6 a resumed life's record has session and findings from its first turn on, also when it is exported then", async () => {
  const world = await failedWorld(["fix-it"]);
  const before = await world.issue("fix-it");
  world.agentDoes("fix-it", 'while [ -e "$HOME/wait" ]; do sleep 0.05; done');
  world.put("wait", "");
  const run = world.start(["run", "--resume"]);
  await until("the resumed turn", () => world.sent("fix-it").length === 2);
  const exported = await world.quick("runs", "export", "last");
  rmSync(join(world.root, "wait"));
  expect((await run.ended).code).toBe(0);
  const { session_id, base_sha, last_review_issues, findings } = before;
  expect(JSON.parse(exported).issues["fix-it"]).toMatchObject({
    ...{ status: "running", session_id, base_sha, last_review_issues, findings },
  });
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", last_review_issues: null });
  const elsewhere = resumeWorld();
  await elsewhere.add("fix-it");
  await elsewhere.quick("runs", "import", elsewhere.put("run.json", exported));
  expect((await elsewhere.ratchet("run", "--resume")).code).toBe(0);
  expect(elsewhere.sent("fix-it")).toMatchObject([{ kind: "review_followup", session: session_id }]);
});

test("A9 killed while a resumed turn is at work: the next start goes on with it, and the findings are not lost", async () => {
  const world = await failedWorld(["fix-it"]);
  world.agentDoes("fix-it", 'while [ -e "$HOME/wait" ]; do sleep 0.05; done');
  world.put("wait", "");
  const run = world.start(["run", "--resume"]);
  await until("the resumed turn", () => world.sent("fix-it").length === 2);
  run.kill("SIGKILL");
  await run.ended;
  rmSync(join(world.root, "wait"));
  expect((await world.ratchet("run")).code).toBe(0);
  expect(world.sent("fix-it")).toHaveLength(2);
  const { run_id } = await world.record();
  expect(attemptsOf(world, run_id, "fix-it")[0]).toBe("01-review_followup");
  expect(existsSync(join(world.dir, "fix-it.txt"))).toBe(true);
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", last_review_issues: null });
});
