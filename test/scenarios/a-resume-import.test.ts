import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ResumeWorld, resumeWorld, says } from "./resume-world.js";
import { until } from "./sandbox.js";

/** `runs import`: records from elsewhere, Ratchet's own and mala's, and resuming from them. */
const finding = {
  file: "a.ts",
  line_start: 10,
  line_end: 12,
  priority: 1,
  title: "Null deref",
  body: "x is null",
  reviewer: "cerberus",
};

/** A file as mala writes it. */
function malaRun(issues: Record<string, unknown>, more: object = {}): string {
  const whole = Object.entries(issues).map(([id, issue]) => [
    id,
    {
      issue_id: id,
      agent_id: `${id}-1a2b`,
      status: "failed",
      duration_seconds: 12.5,
      session_id: `mala-${id}`,
      log_path: "/home/me/.claude/x.jsonl",
      evidence_check: { passed: true, missing_commands: [], failed_commands: [], extra: 1 },
      error: "Max review retries exceeded",
      gate_attempts: 1,
      review_attempts: 3,
      validation: null,
      resolution: null,
      review_log_path: null,
      baseline_timestamp: 1768212000,
      ...(issue as object),
    },
  ]);
  return JSON.stringify({
    run_id: "0f9b1d3e-0000-4000-8000-000000000001",
    started_at: "2026-01-12T10:00:00.123456+00:00",
    completed_at: "2026-01-12T10:30:00+00:00",
    version: "0.9.0",
    repo_path: "/home/me/shop",
    config: { max_agents: 2, review_enabled: true },
    issues: Object.fromEntries(whole),
    run_validation: null,
    run_start_commit: "abc",
    last_cumulative_review_commits: { a: "b" },
    ...more,
  });
}

async function importText(world: ResumeWorld, name: string, text: string) {
  return world.ratchet("runs", "import", world.put(name, text), "--json");
}

test("A2 a mala run file is imported and resumed: the session, the findings, attempt 1", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  await world.add("other", { more: ["--priority", "P0"] });
  const absolute = { ...finding, file: "/home/me/shop/src/b.ts", title: "Leaks", body: "`{never}` $closed" };
  const file = world.put("run.json", malaRun({ "fix-it": { last_review_issues: [finding, absolute] } }));
  const imported = await world.ratchet("runs", "import", file);
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  expect(imported.stdout).toContain("fix-it: failed, 2 review findings");
  const open = JSON.parse(await world.quick("findings", "fix-it", "--json"));
  expect(open).toMatchObject([
    {
      source: "review",
      stage: "per_issue_review",
      title: "Null deref",
      reviewer: "cerberus",
      visit: 3,
      status: "open",
    },
    { file: "src/b.ts", title: "Leaks" },
  ]);
  // However old it is, what a resume needs is not cleared away.
  expect((await world.ratchet("gc")).code).toBe(0);
  const run = await world.ratchet("run", "--resume", "--max-agents", "1");
  expect(run.code).toBe(0);
  const line = "Using review_followup for resume: 2 issues from prior run 0f9b1d3e-0000-4000-8000-000000000001";
  expect(run.stdout).toContain(line);
  const [first, ...more] = world.sent("fix-it");
  expect(more).toEqual([]);
  expect(first).toMatchObject({ kind: "review_followup", session: "mala-fix-it", attempt: "1" });
  for (const word of ["attempt 1 of 3", "a.ts:10-12", "src/b.ts:10-12", "`{never}` $closed"]) {
    expect(first?.text).toContain(word);
  }
  expect(first?.text).not.toContain("/home/me/shop");
  // What was begun elsewhere goes before what is only more urgent.
  expect(run.stdout.indexOf("fix-it: prompt review_followup")).toBeLessThan(run.stdout.indexOf("other: prompt"));
  expect(JSON.parse(await world.quick("findings", "fix-it", "--json"))).toEqual([]);
});

test.each([
  ["a NUL byte", "a\0b"],
  ["200,000 characters", "x".repeat(200_000)],
])(
  "A7 a record whose session has %s is one without a session: its findings go into a new one",
  async (_, session_id) => {
    const world = resumeWorld();
    await world.add("fix-it");
    const text = malaRun({ "fix-it": { session_id, last_review_issues: [finding] } });
    expect((await importText(world, "run.json", text)).code).toBe(0);
    expect((await world.ratchet("run", "--resume", "--strict")).code).toBe(1);
    expect(await world.issue("fix-it")).toMatchObject({ error: "session_not_found", session_id: null });
    expect((await world.ratchet("run", "--resume")).code).toBe(0);
    expect(world.sent("fix-it")).toMatchObject([{ session: "new", text: expect.stringContaining("Null deref") }]);
  },
);

test("A2 a record from a machine whose clock is ahead keeps nothing from being resumed", async () => {
  const world = resumeWorld();
  world.configure({ agent: { type: "command", command: world.script("fails", "exit 1\n") } });
  await world.add("late");
  expect((await world.ratchet("run")).code).toBe(1);
  const ahead = new Date(Date.now() + 3_600_000).toISOString();
  const text = malaRun({ late: { last_review_issues: [finding] } }, { started_at: ahead, completed_at: ahead });
  expect((await importText(world, "ahead.json", text)).code).toBe(0);
  const listed = async () => JSON.parse(await world.quick("logs", "list", "--json")) as { run_id: string }[];
  const [imported, ...before] = await listed();
  expect([imported, before.length]).toMatchObject([{ started_at: ahead }, 1]);
  expect((await world.ratchet("run", "--resume")).stdout).toContain("late: started");
  const [own, ...others] = await listed();
  expect(others).toEqual([imported, ...before]);
  expect(JSON.parse(await world.quick("runs", "export", "last"))).toMatchObject({ run_id: own?.run_id });
});

test("A3 an imported record without the field: the implementer prompt, into its session or a new one", async () => {
  const world = resumeWorld();
  for (const id of ["with-session", "without"]) await world.add(id);
  const text = malaRun({ "with-session": {}, without: { session_id: null } });
  expect((await importText(world, "old.json", text)).code).toBe(0);
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("with-session")).toMatchObject([{ kind: "implementer", session: "mala-with-session" }]);
  expect(world.sent("without")).toMatchObject([{ kind: "implementer", session: "new" }]);
});

const whole = {
  file: "unknown",
  line_start: 0,
  line_end: 0,
  priority: null,
  title: "Unknown issue",
  body: "",
  reviewer: "unknown",
};
const coerced: Readonly<Record<string, readonly [unknown, unknown]>> = {
  example: [[{ title: "x", line_start: "7" }, 5, null], [{ ...whole, title: "x", line_start: 7, line_end: 7 }]],
  oops: ["oops", null],
  number: [7, null],
  object: [{ title: "x" }, null],
  empty: [[], null],
  nothing: [[1, "a", null, []], null],
  defaults: [[{}], [whole]],
  words: [[{ line_start: "x", line_end: "y", priority: "z" }], [whole]],
  extra: [[{ title: "x", unknown: { deep: [1] } }], [{ ...whole, title: "x" }]],
  nulls: [[{ file: null, title: null, body: null, reviewer: null, line_end: null }], [whole]],
};

test("A4 last_review_issues are read tolerantly, and what is left is resumable", async () => {
  const world = resumeWorld();
  for (const id of Object.keys(coerced)) await world.add(id);
  const issues = Object.entries(coerced).map(([id, [given]]) => [id, { last_review_issues: given }]);
  const odd = {
    "not-an-issue": 5,
    "odd-one": { status: 7, session_id: {}, usage: "x", findings: null, evidence_check: [] },
  };
  const text = malaRun({ ...Object.fromEntries(issues) });
  const parsed = JSON.parse(text);
  const imported = await importText(
    world,
    "odd.json",
    JSON.stringify({ ...parsed, issues: { ...parsed.issues, ...odd } }),
  );
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  const [told] = JSON.parse(imported.stdout).imported;
  const lost = told.issues.filter((one: { left_out: number }) => one.left_out > 0);
  expect(lost).toMatchObject([
    { issue_id: "example", review_issues: 1, left_out: 2 },
    { issue_id: "nothing", review_issues: 0, left_out: 4 },
  ]);
  expect(told.left_out).toBe(1);
  const record = await world.record();
  for (const [id, [, expected]] of Object.entries(coerced)) {
    expect(record.issues[id]?.last_review_issues, id).toEqual(expected);
  }
  expect(record.issues["odd-one"]).toMatchObject({ status: "interrupted", session_id: null, last_review_issues: null });
  expect(Object.keys(record.issues)).not.toContain("not-an-issue");
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  for (const [id, [, expected]] of Object.entries(coerced)) {
    expect(world.sent(id)[0], id).toMatchObject({ kind: expected === null ? "implementer" : "review_followup" });
  }
  expect(world.sent("example")[0]?.text).toContain("unknown:7");
});

test("A4 what an import cannot read is counted in its words", async () => {
  const world = resumeWorld();
  await world.add("some");
  await world.add("none");
  const issues = { some: { last_review_issues: [{}, 5, null] }, none: { last_review_issues: ["a"] }, odd: 5 };
  const file = world.put("odd.json", JSON.stringify({ run_id: "odd", issues }));
  expect((await world.quick("runs", "import", file)).split("\n").slice(0, 4)).toEqual([
    "odd imported: 2 issues",
    "  some: interrupted, 1 review finding, 2 that cannot be read left out",
    "  none: interrupted, 1 review finding that cannot be read left out",
    "  1 issue that cannot be read left out",
  ]);
  const list = world.put("list.json", JSON.stringify({ run_id: "list", issues: [{ issue_id: "some" }, 1, null] }));
  expect((await world.quick("runs", "import", list)).split("\n").slice(0, 3)).toEqual([
    "list imported: 1 issue",
    "  some: interrupted",
    "  2 issues that cannot be read left out",
  ]);
});

test("A4 a record of Ratchet's own is the same after export, import and export, and resumes elsewhere", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  const long = "long ".repeat(4000);
  world.reviewerDoes("fix-it", says("fail", { ...finding, body: long }, { title: "Naming", priority: 2 }));
  expect((await world.ratchet("run")).code).toBe(1);
  const { stdout } = await world.ratchet("runs", "export", "last");
  const other = resumeWorld();
  await other.add("fix-it");
  expect((await importText(other, "run.json", stdout)).code).toBe(0);
  const [mine, theirs] = [JSON.parse(stdout), await other.record()];
  expect({ ...theirs, repo_path: "", project_id: "" }).toEqual({ ...mine, repo_path: "", project_id: "" });
  expect(theirs.issues["fix-it"]?.last_review_issues?.[0]?.body).toBe(long);
  // Its base commit is not in this repository, and nobody knows the session here.
  other.agentDoes("fix-it", 'if [ -n "$RATCHET_SESSION_ID" ]; then exit 66; fi');
  expect((await other.ratchet("run", "--resume")).code).toBe(0);
  expect(other.sent("fix-it").map(({ kind, session }) => `${kind} ${session}`)).toEqual([
    "review_followup session-fix-it-00",
    "review_followup new",
  ]);
  expect(other.sent("fix-it")[0]?.text).toContain(long.trim());
  expect(other.sent("fix-it")[0]?.text).not.toContain("Naming");
});

test("A4 importing twice changes nothing, also after the issue was resumed and passed", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  const text = malaRun({ "fix-it": { last_review_issues: [finding] } });
  const findings = async () => (await world.ratchet("findings", "fix-it", "--all", "--json")).stdout;
  await importText(world, "run.json", text);
  const [record, before] = [await world.record(), await findings()];
  const again = await importText(world, "copy.json", text);
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout).imported).toMatchObject([{ result: "known" }]);
  expect(await world.record()).toEqual(record);
  expect(await findings()).toBe(before);
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  await importText(world, "run.json", text);
  expect(JSON.parse(await world.quick("findings", "fix-it", "--json"))).toEqual([]);
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("fix-it")).toHaveLength(1);
});

test("A4 a folder is imported oldest first; a corrupt file is named, exit 1, and the others are imported", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  const old = malaRun({ "fix-it": { last_review_issues: [{ ...finding, title: "Old one" }] } }, { run_id: "r-old" });
  const started_at = "2026-02-01T00:00:00Z";
  const newer = malaRun(
    { "fix-it": { last_review_issues: [finding], session_id: "newer" }, unknown: {} },
    { run_id: "r-new", started_at },
  );
  world.put("runs/a.json", newer);
  world.put("runs/b.json", '{"run_id": "cut');
  world.put("runs/c.json", old);
  world.put("runs/d.json", '["no", "record"]');
  world.put("runs/e.json", '{"run_id": "../../escape", "issues": {}}');
  world.put("runs/notes.txt", "not looked at");
  const imported = await world.ratchet("runs", "import", `${world.root}/runs`);
  expect(imported.code).toBe(1);
  for (const name of ["b.json", "d.json", "e.json"]) expect(imported.stderr).toContain(`runs/${name} was not imported`);
  expect(imported.stdout).toMatch(/r-old imported[\s\S]*r-new imported[\s\S]*unknown: failed, not on the board/);
  expect((await world.ratchet("work", "show", "unknown")).code).toBe(1);
  expect((await world.record("r-new")).issues.unknown).toMatchObject({ status: "failed" });
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  const [first] = world.sent("fix-it");
  expect(first).toMatchObject({ kind: "review_followup", session: "newer" });
  expect(first?.text).toContain("Null deref");
  expect(first?.text).not.toContain("Old one");
});

test("A4 a pipe in a folder is named and not waited for; one that is named itself is read", async () => {
  const world = resumeWorld();
  const whole = world.put("runs/a.json", malaRun({ one: {} }));
  execFileSync("mkfifo", [join(world.root, "runs", "b.json")]);
  const { code, stdout, stderr } = await world.ratchet("runs", "import", join(world.root, "runs"));
  expect([code, stdout]).toEqual([1, expect.stringContaining("imported: 1 issue")]);
  expect(stderr).toMatch(/^ratchet: \S+b\.json was not imported: it is not a file\n$/);
  const piped = world.ratchet("runs", "import", join(world.root, "runs", "b.json"));
  execFileSync("sh", ["-c", `cat ${whole} >${join(world.root, "runs", "b.json")}`]);
  expect(await piped).toMatchObject({ code: 0, stdout: expect.stringContaining("is known already") });
});

test("A4 a file that is nested too deeply is told as that, and a record without a version by doctor", async () => {
  const world = resumeWorld();
  const deep = malaRun({ one: { extra: "deep" } }).replace('"deep"', `${"[".repeat(200_000)}${"]".repeat(200_000)}`);
  const { code, stderr } = await world.ratchet("runs", "import", world.put("deep.json", deep));
  expect([code, stderr]).toEqual([1, expect.stringMatching(/deep\.json was not imported: it is nested too deeply\n$/)]);
  expect((await importText(world, "plain.json", malaRun({ one: {} }, { version: undefined }))).code).toBe(0);
  const { checks } = JSON.parse((await world.ratchet("doctor", "--json")).stdout);
  const detail = expect.stringMatching(/^run \S+ was made by an unnamed version$/);
  expect(checks).toContainEqual(expect.objectContaining({ name: "journal", detail }));
});

test("A4 a record older than what happened here is kept and changes nothing", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  expect((await world.ratchet("run")).code).toBe(0);
  await importText(world, "run.json", malaRun({ "fix-it": { last_review_issues: [finding] } }));
  expect(JSON.parse(await world.quick("findings", "fix-it", "--json"))).toEqual([]);
});

test("A4 a record of unknown age is older than what happened here, and is used where nothing did", async () => {
  const world = resumeWorld({ max_retries: 1 });
  for (const id of ["lived", "new"]) await world.add(id);
  world.reviewerDoes("lived", says("fail", { ...finding, title: "Local one" }));
  expect((await world.ratchet("run", "lived")).code).toBe(1);
  const issue = { last_review_issues: [{ ...finding, title: "Undated" }] };
  const undated = malaRun({ lived: issue, new: issue }, { started_at: undefined, completed_at: "soon" });
  expect(JSON.parse((await importText(world, "undated.json", undated)).stdout).imported[0].issues).toMatchObject([
    { issue_id: "lived", review_issues: 0, only_record: "older" },
    { issue_id: "new", review_issues: 1, only_record: null },
  ]);
  const open: { issue_id: string; title: string }[] = JSON.parse(await world.quick("findings", "--json"));
  expect(open.map(({ issue_id, title }) => `${issue_id} ${title}`)).toEqual(["lived Local one", "new Undated"]);
  const listed: { run_id: string }[] = JSON.parse(await world.quick("logs", "list", "--json"));
  expect(listed.map(({ run_id }) => run_id).at(-1)).toBe(JSON.parse(undated).run_id);
  expect((await world.record()).run_id).toBe(listed[0]?.run_id);
  expect(await world.quick("logs", "list")).not.toContain("1970");
  world.reviewerDoes("lived", says("pass"));
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("lived").at(-1)).toMatchObject({ kind: "review_followup", session: "session-lived-00" });
  expect(world.sent("lived").at(-1)?.text).toContain("Local one");
  expect(world.sent("new")).toMatchObject([{ kind: "review_followup", session: "mala-new" }]);
});

test("A6 a life that resumed a record from a clock that is ahead is newer than it", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  const started_at = new Date(Date.now() + 3_600_000).toISOString();
  const ahead = malaRun({ "fix-it": { last_review_issues: [finding] } }, { started_at, completed_at: null });
  await importText(world, "ahead.json", ahead);
  for (const title of ["Found first", "Found second"]) {
    world.reviewerDoes("fix-it", says("fail", { ...finding, title }));
    expect((await world.ratchet("run", "--resume")).code).toBe(1);
  }
  world.reviewerDoes("fix-it", says("pass"));
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  const sent = world.sent("fix-it").map(({ kind, text }) => `${kind} ${/^#### .*$/m.exec(text)?.[0]}`);
  expect(sent).toEqual([
    "review_followup #### 1. [P1] Null deref",
    "review_followup #### 1. [P1] Found first",
    "review_followup #### 1. [P1] Found second",
  ]);
});

test("A4 a later success of the issue elsewhere closes its findings; a later record without a session hides none", async () => {
  const world = resumeWorld();
  for (const id of ["done", "hidden"]) await world.add(id);
  const both = { last_review_issues: [finding] };
  await importText(world, "1.json", malaRun({ done: both, hidden: both }, { run_id: "r1" }));
  const later = malaRun(
    { done: { status: "success" }, hidden: { session_id: null } },
    { run_id: "r2", started_at: "2026-02-01T00:00:00Z" },
  );
  await importText(world, "2.json", later);
  const open: { issue_id: string }[] = JSON.parse(await world.quick("findings", "--json"));
  expect(open.map(({ issue_id }) => issue_id)).toEqual(["hidden"]);
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("hidden")).toMatchObject([{ kind: "review_followup", session: "mala-hidden" }]);
});

test("A4 a life here that died without a session does not hide the findings of an older run that is imported after it", async () => {
  const world = resumeWorld();
  await world.add("w3");
  world.agentDoes("w3", 'rm "$RATCHET_RESULT_FILE"; exit 1');
  expect((await world.ratchet("run", "w3")).code).toBe(1);
  await importText(world, "old.json", malaRun({ w3: { last_review_issues: [finding] } }));
  world.agentDoes("w3", ":");
  expect((await world.ratchet("run", "--resume", "w3")).code).toBe(0);
  expect(world.sent("w3").at(-1)).toMatchObject({ kind: "review_followup", session: "mala-w3" });
  expect(world.sent("w3").at(-1)?.text).toContain("Null deref");
});

test("A4 an import tells what is kept: findings that are one are counted once, and what nobody takes up is not opened", async () => {
  const world = resumeWorld();
  for (const id of ["done", "merged"]) await world.add(id);
  await world.quick("work", "complete", "done");
  const untitled = [{ file: "a.ts" }, { file: "a.ts" }];
  const both = { done: { last_review_issues: [finding] }, merged: { last_review_issues: [finding, ...untitled] } };
  world.put("runs/1.json", malaRun(both, { run_id: "r1" }));
  world.put("runs/2.json", malaRun(both, { run_id: "r0", started_at: "2025-12-01T00:00:00Z" }));
  world.put("runs/folder.json/notes.txt", "not looked at");
  await world.quick("runs", "import", `${world.root}/runs/1.json`);
  const imported = await world.ratchet("runs", "import", `${world.root}/runs`);
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  expect(imported.stdout).toContain("merged: failed, older than what is known: only its record is kept");
  const other = JSON.parse(
    (await importText(world, "3.json", malaRun(both, { run_id: "r3", started_at: "2026-03-01T00:00:00Z" }))).stdout,
  );
  expect(other.imported[0].issues).toMatchObject([
    { issue_id: "done", review_issues: 0, only_record: "completed" },
    { issue_id: "merged", review_issues: 2, only_record: null },
  ]);
  const open: { issue_id: string }[] = JSON.parse(await world.quick("findings", "--json"));
  expect(open.map(({ issue_id }) => issue_id)).toEqual(["merged", "merged"]);
});

test("A4 an issue that is being worked on keeps its ledger: the file waits, and says for whom", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  world.agentDoes("fix-it", 'while [ ! -e "$HOME/go-on" ]; do sleep 0.05; done');
  const run = world.start(["run"]);
  await until("the turn", () => world.sent("fix-it").length === 1);
  const text = malaRun({ "fix-it": { last_review_issues: [finding] } });
  const early = await importText(world, "run.json", text);
  expect(early.code).toBe(1);
  expect(JSON.parse(early.stdout).failed).toMatchObject([
    { message: expect.stringContaining("is being worked on by run") },
  ]);
  world.put("go-on", "");
  expect((await run.ended).code).toBe(0);
  expect((await importText(world, "run.json", text)).code).toBe(0);
  expect(JSON.parse(await world.quick("findings", "fix-it", "--json"))).toEqual([]);
});

test("A4 an issue that a killed run is in the middle of keeps its ledger, too: what one reviewer has raised blocks when the run goes on", async () => {
  const world = resumeWorld();
  const member = `cat >/dev/null
[ "$RATCHET_REVIEWER" = one ] && { ${says("fail", { ...finding, priority: 0 })}
exit; }
while [ ! -e "$HOME/go-on" ]; do sleep 0.05; done
${says("pass")}`;
  const command = world.script("member.sh", member);
  const panel = ["one", "two"].map((name) => ({ name, reviewer_type: "command", command }));
  const per_issue_review = { enabled: true, reviewer_type: "panel", max_retries: 1, panel };
  world.configure({ ...world.settings, per_issue_review });
  await world.add("fix-it");
  const run = world.start(["run"]);
  await until("one has raised it", () => run.stdout().includes("review by one ended, round 1: fail"));
  run.kill("SIGKILL");
  await run.ended;
  const { run_id: killed } = await world.record();
  const later = { started_at: new Date(Date.now() + 1000).toISOString(), completed_at: null };
  const other = { last_review_issues: [{ ...finding, title: "From elsewhere" }] };
  const records = { success: { status: "success", error: null }, failed: other };
  for (const [name, record] of Object.entries(records)) {
    const refused = await importText(world, `${name}.json`, malaRun({ "fix-it": record }, { ...later, run_id: name }));
    expect([name, refused.code]).toEqual([name, 1]);
    const why = `run ${killed} is in the middle of fix-it, and its process is gone, ratchet run goes on with it`;
    expect(JSON.parse(refused.stdout).failed).toMatchObject([{ message: expect.stringContaining(why) }]);
    const findings = JSON.parse(await world.quick("findings", "fix-it", "--all", "--json"));
    expect(findings).toMatchObject([{ title: "Null deref", priority: 0, status: "open" }]);
  }
  world.put("go-on", "");
  expect((await world.ratchet("run")).code).toBe(1);
  expect(await world.issue("fix-it", killed)).toMatchObject({ status: "failed", commit: null });
  expect(world.git("log", "--format=%s", "main")).toBe("The beginning");
  const told = malaRun({ "fix-it": records.success }, { ...later, run_id: "success" });
  expect((await importText(world, "success.json", told)).code).toBe(0);
});

test("A4 a run that is known changes nothing and is no error, also while its issue is being worked on", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  const old = malaRun({ "fix-it": { last_review_issues: [{ ...finding, body: "x".repeat(5000) }] } });
  expect((await importText(world, "old.json", old)).code).toBe(0);
  world.agentDoes("fix-it", 'while [ ! -e "$HOME/go-on" ]; do sleep 0.05; done');
  const run = world.start(["run"]);
  await until("the turn", () => world.sent("fix-it").length === 1);
  const { run_id } = await world.record();
  for (const text of [old, await world.quick("runs", "export", run_id)]) {
    const again = await importText(world, "known.json", text);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ imported: [{ result: "known" }], failed: [] });
  }
  expect(existsSync(join(world.home, "runs", run_id, "fix-it", "import"))).toBe(false);
  world.put("go-on", "");
  expect((await run.ended).code).toBe(0);
});

test("runs import of what is not there, or outside of a repository, says so", async () => {
  const world = resumeWorld();
  const missing = await world.ratchet("runs", "import", "nowhere.json", "--json");
  expect(missing.code).toBe(1);
  expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: "not-found" } });
  world.put("empty/.keep", "");
  expect((await world.ratchet("runs", "import", `${world.root}/empty`)).code).toBe(1);
  const outside = world.start(["runs", "import", world.put("run.json", malaRun({}))], { cwd: world.root });
  expect((await outside.ended).code).toBe(2);
});
