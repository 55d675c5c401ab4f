import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, type Sandbox, sandbox, until } from "./sandbox.js";

/** Commits once a turn, costs 100 tokens and half a dollar, and waits while there is a file `wait-<issue>`. */
const agent = `
cat >/dev/null
echo "$RATCHET_PROMPT_KIND" >>"$HOME/asked-$RATCHET_ISSUE_ID"
while [ -e "$HOME/wait-$RATCHET_ISSUE_ID" ]; do sleep 0.05; done
echo '{"usage": {"input_tokens": 60, "output_tokens": 40, "cost_usd": 0.5}}' >"$RATCHET_RESULT_FILE"
echo "$RATCHET_PROMPT_KIND" >>"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;
const never = '{"file": "a.ts", "line_start": 1, "line_end": 2, "priority": 0, "title": "Wrong", "body": "all of it"}';
const reviewer = `cat >/dev/null; echo '{"verdict": "fail", "findings": [${never}]}'`;

function limited(budgets: object, more: object = {}): Sandbox {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    per_issue_review: { enabled: true, reviewer_type: "command", command: box.script("review.sh", reviewer) },
    budgets,
    ...more,
  });
  return box;
}
const asked = (box: Sandbox, id: string) => {
  const file = join(box.root, `asked-${id}`);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};

test("an issue that used up its tokens ends after its running turn, escalated, with a dossier that has everything", async () => {
  const box = limited({ issue: { tokens: 200 } });
  await box.add("dear");
  const run = await box.ratchet("run", "--json");
  expect(run.code).toBe(1);
  expect(asked(box, "dear")).toEqual(["implementer", "review_followup"]);
  const item = JSON.parse(await box.quick("work", "show", "dear", "--json"));
  const why = "budget: The issue's budget is used up: 200 of 200 tokens";
  const flags = { human_review_required: true, escalation_reason: why, escalated_at: expect.stringMatching(/^20/) };
  expect(item).toMatchObject({ status: "waiting_for_response", payload: flags });
  expect(item.events).toContainEqual(expect.objectContaining({ type: "human_escalation", reason: why }));
  expect(await box.quick("work", "show", "dear")).toMatch(`escalated   ${why}`);
  const escalated = eventsOf(run).find((event) => event.type === "escalated");
  expect(escalated).toMatchObject({ reason: "The issue's budget is used up: 200 of 200 tokens" });
  const path = escalated?.type === "escalated" ? (escalated.dossier ?? "") : "";
  expect(path).toMatch(/runs\/[^/]+\/dear\/dossier\.md$/);
  expect(readFileSync(path, "utf8")).toContain("- P0 Wrong (a.ts:1-2)");
  const dossier = JSON.parse(readFileSync(path.replace(/md$/, "json"), "utf8"));
  expect(dossier).toMatchObject({
    issue_id: "dear",
    reason: why,
    open_findings: [{ title: "Wrong", priority: 0 }],
    cost: { input_tokens: 120, output_tokens: 80, cost_usd: 1 },
  });
  expect(dossier.attempts.map(({ kind }: { kind: string }) => kind)).toEqual([
    "implementer",
    "review",
    "review_followup",
  ]);
  expect(dossier.open_findings).toEqual(JSON.parse(await box.quick("findings", "dear", "--json")));
  for (const prompt of dossier.prompts) expect(existsSync(prompt)).toBe(true);
  expect(readFileSync(dossier.diff_path, "utf8")).toContain("+implementer\n+review_followup");
  expect(box.git("log", "--format=%s", "main")).toBe("The beginning");
});

test("an issue that used up its minutes escalates, and --resume does not take it up: that needs a person's retry", async () => {
  const box = limited({ issue: { minutes: 0.001 } });
  await box.add("slow");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.issue("slow")).toMatchObject({ status: "escalated", error: "budget" });
  expect((await box.ratchet("run", "--resume", "--dry-run")).stdout).toBe("");
});

test("a run that used up its budget starts nothing new; what needs no further turn still lands; exit 1", async () => {
  const box = limited({ run: { usd: 0.5 } }, { per_issue_review: { enabled: false }, max_agents: 2 });
  for (const id of ["first", "second", "third"]) await box.add(id);
  for (const id of ["first", "second"]) box.put(`wait-${id}`, "");
  const run = box.start(["run", "--json"]);
  await until("both are asked", () => asked(box, "first").length + asked(box, "second").length === 2);
  rmSync(join(box.root, "wait-first"));
  await until("first has landed", async () => (await box.status("first")) === "completed");
  rmSync(join(box.root, "wait-second"));
  const ended = await run.ended;
  expect(ended.code).toBe(1);
  expect([await box.status("second"), await box.status("third")]).toEqual(["completed", "available"]);
  expect(asked(box, "third")).toEqual([]);
  expect(ended.stdout).toContain("The run's budget is used up: 0.50 of 0.5 USD");
  expect(await box.record()).toMatchObject({ status: "failed", exit_code: 1 });
});

test("with the run's budget used up an issue that needs a further turn escalates", async () => {
  const box = limited({ run: { tokens: 100 } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(asked(box, "one")).toEqual(["implementer"]);
  expect(await box.issue("one")).toMatchObject({
    status: "escalated",
    message: "The run's budget is used up: 100 of 100 tokens",
    review_attempts: 0,
  });
});

test("C13 session_end does not pass without its review, for which the run's budget leaves nothing", async () => {
  const box = sandbox();
  const code_review = { enabled: true, reviewer_type: "command", command: box.script("review.sh", reviewer) };
  const session_end = { commands: [{ ref: "check", command: "true" }], code_review };
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    budgets: { run: { tokens: 100 } },
    validation_triggers: { session_end },
  });
  await box.add("one");
  const run = await box.ratchet("run");
  expect([run.code, run.stdout]).toEqual([
    1,
    expect.stringContaining("session_end completed: issue_id=one, result=fail"),
  ]);
  const { status, session_end_result } = await box.issue("one");
  expect([status, session_end_result]).toMatchObject([
    "escalated",
    { status: "fail", reason: "budget", code_review_result: { ran: false, passed: false, findings: [] } },
  ]);
});

test("killed while it escalates, the next start finishes the same dossier and tells the board once", async () => {
  const box = limited({ issue: { tokens: 1 } });
  await box.add("dear");
  box.put("wait-dear", "");
  const run = box.start(["run"]);
  await until("the agent is asked", () => asked(box, "dear").length > 0);
  run.kill("SIGKILL");
  await run.ended;
  rmSync(join(box.root, "wait-dear"));
  expect((await box.ratchet("run")).code).toBe(1);
  expect(asked(box, "dear")).toEqual(["implementer"]);
  expect(await box.status("dear")).toBe("waiting_for_response");
  const shown = JSON.parse(await box.quick("work", "show", "dear", "--json"));
  expect(shown.events.filter(({ type }: { type: string }) => type === "waiting_for_response")).toHaveLength(1);
});

test("D1 the time in which no process was there counts neither for the issue's minutes nor for the run's", {
  timeout: 60_000,
}, async () => {
  const minutes = 0.12;
  const box = limited({ issue: { minutes }, run: { minutes } }, { per_issue_review: { enabled: false } });
  await box.add("slow");
  box.put("wait-slow", "");
  const run = box.start(["run"]);
  await until("the agent is asked", () => asked(box, "slow").length > 0);
  run.kill("SIGKILL");
  await run.ended;
  const over = Date.now() + minutes * 60_000;
  await until("the minutes are over", () => Date.now() > over);
  rmSync(join(box.root, "wait-slow"));
  expect(await box.ratchet("run")).toMatchObject({ code: 0 });
  expect(await box.status("slow")).toBe("completed");
});

/** Four reviewers and one place, or more: each costs a dollar, waits while there is a file `wait-<reviewer>`, and finds something. */
function panel(budgets: object, max_agents = 1): Sandbox {
  const box = sandbox();
  const small = never.replace('"priority": 0', '"priority": 3');
  const command = box.script(
    "review.sh",
    `cat >/dev/null
echo "$RATCHET_REVIEWER" >>"$HOME/asked-reviewers"
while [ -e "$HOME/wait-$RATCHET_REVIEWER" ]; do sleep 0.05; done
echo '{"usage": {"cost_usd": 1}}' >"$RATCHET_RESULT_FILE"
echo '{"verdict": "pass", "findings": [${small}]}'`,
  );
  const members = ["r1", "r2", "r3", "r4"].map((name) => ({ name, reviewer_type: "command", command }));
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent.replace("0.5}", "0}")) },
    max_agents,
    budgets,
    per_issue_review: { enabled: true, reviewer_type: "panel", panel: members },
  });
  return box;
}

test.each([
  ["issue", "The issue's budget is used up: 2.00 of 1.5 USD"],
  ["run", "The run's budget is used up: 2.00 of 1.5 USD"],
])(
  "reviewers that wait for a place when the %s's budget is used up are not started, and what was found is kept",
  async (whose, message) => {
    const box = panel({ [whose]: { usd: 1.5 } });
    await box.add("dear");
    expect((await box.ratchet("run")).code).toBe(1);
    expect(asked(box, "reviewers")).toHaveLength(2);
    expect(await box.issue("dear")).toMatchObject({
      status: "escalated",
      error: "budget",
      message,
      review_attempts: 1,
    });
    expect(JSON.parse(await box.quick("findings", "dear", "--json"))).toMatchObject([{ title: "Wrong" }]);
  },
);

test("a round in which no reviewer was called counts neither in the record nor in the dossier", async () => {
  const box = panel({ run: { usd: 0.5 } }, 2);
  const ids = ["dear", "late"];
  for (const id of ids) await box.add(id);
  for (const name of ["r1", "r2", "r3", "r4"]) box.put(`wait-${name}`, "");
  const run = box.start(["run"]);
  // One issue's have both places, the other's wait.
  await until("all are to look", () => (run.stdout().match(/review by r4 started/g) ?? []).length === 2);
  await until("two are asked", () => asked(box, "reviewers").length === 2);
  for (const name of ["r1", "r2", "r3", "r4"]) rmSync(join(box.root, `wait-${name}`));
  expect((await run.ended).code).toBe(1);
  const folder = join(box.home, "runs", (await box.record()).run_id);
  const roundsOf = async (id: string) => {
    const { counters } = JSON.parse(readFileSync(join(folder, id, "dossier.json"), "utf8"));
    return [(await box.issue(id)).review_attempts, counters.review];
  };
  expect((await Promise.all(ids.map(roundsOf))).sort()).toEqual([
    [0, 0],
    [1, 1],
  ]);
});

test("D1 killed while a reviewer runs that uses the budget up, those that wait are not started by the next start", async () => {
  const box = panel({ issue: { usd: 0.5 } });
  await box.add("dear");
  for (const name of ["r1", "r2", "r3", "r4"]) box.put(`wait-${name}`, "");
  const run = box.start(["run"]);
  await until("a reviewer is asked", () => asked(box, "reviewers").length > 0);
  run.kill("SIGKILL");
  await run.ended;
  for (const name of ["r1", "r2", "r3", "r4"]) rmSync(join(box.root, `wait-${name}`));
  await until("it has ended", () => box.processes().length === 0);
  expect((await box.ratchet("run")).code).toBe(1);
  expect(asked(box, "reviewers")).toHaveLength(1);
  expect(await box.issue("dear")).toMatchObject({ status: "escalated", error: "budget" });
});
