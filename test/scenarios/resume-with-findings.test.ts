import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attemptsOf, type Running, type Sandbox, sandbox, until } from "./sandbox.js";

/** Keeps every prompt with its session; waits in a follow-up while there is a file `wait`. */
const agent = `
n=$(ls "$HOME/prompts" | wc -l)
{ echo "$RATCHET_PROMPT_KIND \${RATCHET_SESSION_ID:-new}"; cat; } >"$HOME/prompts/$(printf %02d $n)"
echo '{"session_id": "the-session"}' >"$RATCHET_RESULT_FILE"
echo "$RATCHET_PROMPT_KIND $RATCHET_ATTEMPT" >>work.txt
if [ "$RATCHET_PROMPT_KIND" = review_followup ]; then
  : >"$HOME/waiting"
  while [ -e "$HOME/wait" ]; do sleep 0.05; done
fi
git add --all && git commit --quiet --message "Work in $RATCHET_PROMPT_KIND"
`;
const blocking =
  '{"file": "a.ts", "line_start": 10, "line_end": 12, "priority": 0, "title": "Null deref", "body": "x may be null {{x}}"}';
const other = '{"file": "b.ts", "line_start": 5, "line_end": 5, "priority": 2, "title": "Naming", "body": "call it y"}';
/** Finds the same two things in every round, until there is a file `content`. */
const reviewer = `
cat >/dev/null
if [ -e "$HOME/content" ]; then echo '{"verdict": "pass", "findings": []}'
else echo '{"verdict": "fail", "findings": [${blocking}, ${other}]}'; fi
`;

async function ready(): Promise<Sandbox> {
  const box = sandbox();
  box.configure({
    commands: { check: "test -e work.txt" },
    evidence_check: { required: ["check"] },
    agent: { type: "command", command: box.script("agent.sh", agent) },
    per_issue_review: { enabled: true, reviewer_type: "command", command: box.script("review.sh", reviewer) },
  });
  box.put("prompts/.keep", "");
  await box.add("fix-it");
  return box;
}

function prompt(box: Sandbox, number: number): string {
  return readFileSync(join(box.root, "prompts", String(number).padStart(2, "0")), "utf8");
}

function expectFollowup(text: string): void {
  expect(text).toMatch(/^review_followup the-session\n/);
  expect(text).toContain("attempt 1 of 3");
  expect(text).toContain("issue fix-it");
  expect(text).toContain("a.ts:10-12");
  expect(text).toContain("Null deref");
  expect(text).toContain("x may be null {{x}}");
  expect(text).toContain("check: test -e work.txt");
  expect(text).not.toContain("Naming");
  expect(text).not.toContain("You are working on issue");
}

test("A1 A2 run --resume after a failed review sends review_followup, attempt 1 of 3, with the blocking findings alone", async () => {
  const box = await ready();
  expect((await box.ratchet("run")).code).toBe(1);
  const first = await box.record();
  const failed = first.issues["fix-it"];
  expect(failed).toMatchObject({ status: "failed", review_attempts: 3, session_id: "the-session" });
  expect(failed?.last_review_issues).toEqual([
    {
      file: "a.ts",
      line_start: 10,
      line_end: 12,
      priority: 0,
      title: "Null deref",
      body: "x may be null {{x}}",
      reviewer: "command",
    },
  ]);
  expect(existsSync(failed?.worktree_path ?? "")).toBe(true);
  box.put("content", "");
  const again = await box.ratchet("run", "--resume");
  expect(again.code).toBe(0);
  const second = await box.record();
  const line = `Using review_followup for resume: 1 issues from prior run ${first.run_id}`;
  expect(again.stdout.split("\n").filter((one) => one.includes(line))).toHaveLength(1);
  const log = readFileSync(join(box.home, "runs", second.run_id, "run.log"), "utf8");
  expect(log.split("\n").filter((one) => one.endsWith(` ${line}`))).toHaveLength(1);
  expectFollowup(prompt(box, 3));
  expect(existsSync(join(box.root, "prompts", "04"))).toBe(false);
  expect(attemptsOf(box, second.run_id, "fix-it")[0]).toBe("01-review_followup");
  const { base_sha, worktree_path } = second.issues["fix-it"] ?? {};
  expect({ base_sha, worktree_path }).toEqual({ base_sha: failed?.base_sha, worktree_path: failed?.worktree_path });
  expect(second.issues["fix-it"]).toMatchObject({ status: "success", last_review_issues: null, review_attempts: 1 });
  expect(box.git("show", "main:work.txt").split("\n")).toHaveLength(4);
});

/** Round 1 has found something and the agent is at work on it. */
async function inFollowup(box: Sandbox): Promise<Running> {
  box.put("wait", "");
  const run = box.start(["run"]);
  await until("the follow-up turn", () => existsSync(join(box.root, "waiting")) || run.isEnded());
  return run;
}

const ways: Readonly<Record<string, (box: Sandbox, run: Running) => Promise<unknown>>> = {
  "SIGINT twice": async (_box, run) => {
    run.kill("SIGINT");
    await until("it drains", () => run.stderr().includes("draining"));
    run.kill("SIGINT");
  },
  SIGTERM: async (_box, run) => run.kill("SIGTERM"),
  "ratchet stop": (box) => box.ratchet("stop"),
};

test.each(Object.keys(ways))("%s in a follow-up turn: run --resume goes on in it with the findings", async (way) => {
  const box = await ready();
  const run = await inFollowup(box);
  await ways[way]?.(box, run);
  expect((await run.ended).code).toBe(130);
  expect(box.processes()).toEqual([]);
  const stopped = await box.issue("fix-it");
  expect(stopped).toMatchObject({ status: "interrupted", session_id: "the-session", commit: null });
  expect(stopped.last_review_issues).toMatchObject([{ title: "Null deref" }]);
  expect(await box.status("fix-it")).toBe("available");
  const unfinished = join(stopped.worktree_path ?? "", "work.txt");
  expect(readFileSync(unfinished, "utf8")).toBe("implementer 1\nreview_followup 2\n");
  box.put("content", "");
  await removeWait(box);
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expectFollowup(prompt(box, 2));
  expect(box.read("work.txt")).toBe("implementer 1\nreview_followup 2\nreview_followup 1\n");
  expect(await box.status("fix-it")).toBe("completed");
});

async function removeWait(box: Sandbox): Promise<void> {
  const { rm } = await import("node:fs/promises");
  await rm(join(box.root, "wait"));
}

test("SIGINT once in a follow-up turn: the issue is finished, no other starts, exit 130", async () => {
  const box = await ready();
  await box.add("another", { more: ["--dep", "fix-it"] });
  const run = await inFollowup(box);
  run.kill("SIGINT");
  await until("it drains", () => run.stderr().includes("draining"));
  box.put("content", "");
  await removeWait(box);
  expect((await run.ended).code).toBe(130);
  const { issues } = await box.record();
  expect(Object.entries(issues).map(([id, { status }]) => [id, status])).toEqual([["fix-it", "success"]]);
  expect(await box.status("another")).toBe("available");
  expect(JSON.parse(await box.quick("work", "show", "another", "--json")).claimed_by).toBeNull();
});

test("SIGINT three times: the next run takes up the same run and its agent, and loses nothing", async () => {
  const box = await ready();
  const run = await inFollowup(box);
  const { run_id } = await box.record();
  for (const word of ["draining", "stopping", ""]) {
    run.kill("SIGINT");
    if (word !== "") await until(word, () => run.stderr().includes(word));
  }
  expect((await run.ended).code).toBe(130);
  await removeWait(box);
  box.put("content", "");
  const next = await box.ratchet("run");
  expect(next.stdout).toContain(`Continuing run ${run_id} `);
  const { issues } = await box.record(run_id);
  expect(issues["fix-it"]?.last_review_issues ?? []).toHaveLength(issues["fix-it"]?.status === "success" ? 0 : 1);
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(await box.status("fix-it")).toBe("completed");
  expect(box.read("work.txt")).toMatch(/^implementer 1\nreview_followup 2\n/);
  expect(box.processes()).toEqual([]);
});
