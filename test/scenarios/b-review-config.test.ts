import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ResumeWorld, resumeWorld, says } from "./resume-world.js";
import { eventsOf, until } from "./sandbox.js";

/** What `per_issue_review` and its flags say is what happens. */
const blocking = { title: "Wrong", priority: 1 };

/** How often each reviewer program was called, by the name in its file. */
function calls(world: ResumeWorld, name: string): number {
  const file = join(world.root, `calls-${name}`);
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").length : 0;
}
function counting(world: ResumeWorld, name: string, verdict = says("pass")): string[] {
  return world.script(`${name}.sh`, `cat >/dev/null; echo called >>"$HOME/calls-${name}"\n${verdict}`);
}

test("B1 without the section nobody reviews, and no preset turns it on", async () => {
  const world = resumeWorld();
  const { per_issue_review: _, ...bare } = world.settings;
  for (const preset of [undefined, "node-npm", "python-uv", "go", "rust"]) {
    const id = `issue-${preset ?? "none"}`;
    const commands = { ...(bare.commands as object), setup: null };
    world.configure({ ...bare, ...(preset === undefined ? {} : { preset, commands }) });
    await world.add(id);
    const run = await world.ratchet("run", "--json");
    expect(run.code, id).toBe(0);
    expect(eventsOf(run).filter(({ type }) => type === "review-started")).toEqual([]);
    const record = await world.record();
    expect(record.issues[id]).toMatchObject({ status: "success", message: "No review required", review_attempts: 0 });
    expect(record.config.per_issue_review.enabled).toBe(false);
  }
});

test("B2 the defaults of an enabled section, and the review after the gate and session_end", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(0);
  const told = ["gate-passed", "session-end-skipped", "review-started", "review-ended", "landed"];
  expect(eventsOf(run).flatMap(({ type }) => (told.includes(type) ? [type] : []))).toEqual(told);
  expect((await world.record()).config.per_issue_review).toMatchObject({
    enabled: true,
    max_retries: 3,
    finding_threshold: "none",
    track_review_issues: true,
    failure_mode: "continue",
    cerberus: { timeout: 300, spawn_args: [], wait_args: [] },
    agent_sdk_timeout: 600,
    agent_sdk_model: "sonnet",
    agent_sdk_agent: null,
    baseline: null,
  });
});

test("B2 the full section, every key given, is what the run works with; baseline is said to be ignored", async () => {
  const world = resumeWorld();
  const section = {
    ...world.settings.per_issue_review,
    max_retries: 2,
    finding_threshold: "P1",
    track_review_issues: false,
    failure_mode: "continue",
    cerberus: { timeout: 200, spawn_args: ["--mode", "fast"], wait_args: [], env: ["A=b", "REVIEW_API_KEY=1234"] },
    agent_sdk_timeout: 60,
    agent_sdk_model: "opus",
  };
  world.configure({
    ...world.settings,
    timeout_minutes: 60,
    per_issue_review: { ...section, baseline: "since_run_start" },
  });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", blocking));
  const run = await world.ratchet("run");
  expect(run.code).toBe(1);
  expect(run.stderr.split("\n").filter((line) => line.includes("baseline"))).toHaveLength(1);
  const { config, issues } = await world.record();
  const env = { A: "b", REVIEW_API_KEY: "[redacted]" };
  expect(config.per_issue_review).toMatchObject({ ...section, cerberus: { ...section.cerberus, env } });
  expect(issues["fix-it"]).toMatchObject({ review_attempts: 2 });
});

test("B2 the example with every key, an enabled trigger review beside it, passes config check", async () => {
  const world = resumeWorld();
  const example = `preset: python-uv
timeout_minutes: 60
agent: {type: command, command: [sh, agent.sh]}
per_issue_review:
  enabled: true
  reviewer_type: cerberus
  max_retries: 3
  finding_threshold: P1
  track_review_issues: true
  failure_mode: continue
  cerberus:
    timeout: 300
    spawn_args: ["--mode", "fast"]
    wait_args: []
    env: []
  agent_sdk_timeout: 600
  agent_sdk_model: sonnet
validation_triggers:
  run_end:
    code_review:
      enabled: true
`;
  world.write("ratchet.yaml", example);
  expect(await world.ratchet("config", "check")).toMatchObject({ code: 0, stderr: "" });
});

test("B2 enabled alone means cerberus, and a reviewer that is not installed is found before any agent starts", async () => {
  const world = resumeWorld();
  world.configure({ ...world.settings, per_issue_review: { enabled: true } });
  await world.add("fix-it");
  expect((await world.ratchet("config", "check")).code).toBe(0);
  const run = await world.ratchet("run");
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/cerberus[\s\S]*hint: /);
  expect(world.sent("fix-it")).toEqual([]);
});

const resolutions: Readonly<Record<string, { does: string; reviews: number; message?: string }>> = {
  commit: { does: ":", reviews: 1 },
  "no-change": { does: 'echo "ISSUE_NO_CHANGE: nothing to do"; exit 0', reviews: 0, message: "No review required" },
  obsolete: { does: 'echo "ISSUE_OBSOLETE: gone"; exit 0', reviews: 0, message: "No review required" },
  "already-complete": {
    does: 'echo "ISSUE_ALREADY_COMPLETE: $(git rev-parse HEAD) did it"; exit 0',
    reviews: 0,
    message: "No review required",
  },
  "already-complete-in-words": {
    does: 'echo "ISSUE_ALREADY_COMPLETE: ticket 20240115 was done in $(git rev-parse HEAD)"; exit 0',
    reviews: 0,
    message: "No review required",
  },
  "docs-only": {
    does: 'echo more >>README.md; git commit --quiet --all --message Docs; echo "ISSUE_DOCS_ONLY: words"; exit 0',
    reviews: 0,
    message: "No review required",
  },
};

test.each([true, false])("B3 the truth table of who is reviewed, with the section enabled: %s", async (enabled) => {
  const world = resumeWorld({ enabled });
  for (const [id, { does }] of Object.entries(resolutions)) {
    await world.add(id);
    world.agentDoes(id, does);
  }
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(0);
  const { issues } = await world.record();
  for (const [id, { reviews, message }] of Object.entries(resolutions)) {
    const started = eventsOf(run).filter((event) => event.type === "review-started" && event.issue_id === id);
    expect(started.length, id).toBe(enabled ? reviews : 0);
    expect(issues[id]?.status, id).toBe("success");
    if (message !== undefined || !enabled) expect(issues[id]?.message, id).toBe("No review required");
  }
});

const wrong: readonly [string, object | string, readonly string[]][] = [
  ["enabled", { enabled: "yes" }, ["per_issue_review.enabled", "true or false"]],
  ["max_retries", { max_retries: -1 }, ["per_issue_review.max_retries", "-1"]],
  ["max_retries", { max_retries: true }, ["per_issue_review.max_retries", "true"]],
  ["finding_threshold", { finding_threshold: "P4" }, ["P4", "P0, P1, P2, P3, none"]],
  ["failure_mode", { failure_mode: "stop" }, ["stop", "abort, continue, remediate"]],
  ["agent_sdk_model", { agent_sdk_model: "gpt" }, ["gpt", "sonnet, opus, haiku"]],
  ["agent_sdk_timeout", { agent_sdk_timeout: 0 }, ["per_issue_review.agent_sdk_timeout", "0"]],
  ["max_retry", { max_retry: 2 }, ["per_issue_review.max_retry", "did you mean max_retries"]],
  ["max_retry", { enabled: false, max_retry: 2 }, ["per_issue_review.max_retry", "did you mean max_retries"]],
  ["per_issue_review", "[]", ["per_issue_review", "mapping"]],
];

test("B4 what is wrong in the section is named with its place and what is allowed; exit 2, nothing is started", async () => {
  const world = resumeWorld();
  await world.add("fix-it");
  for (const [key, section, words] of wrong) {
    const text = typeof section === "string" ? section : JSON.stringify({ enabled: true, ...section });
    const { per_issue_review: _, ...rest } = world.settings;
    const lines = Object.entries(rest).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    world.write("ratchet.yaml", [...lines, `per_issue_review: ${text}`, ""].join("\n"));
    const run = await world.ratchet("run");
    expect(run, text).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr, text).toContain(`ratchet.yaml:${lines.length + 1}:`);
    for (const word of [key, ...words]) expect(run.stderr, text).toContain(word);
  }
  const misplaced: readonly [object, string][] = [
    [{ validation_triggers: { per_issue_review: { enabled: true } } }, "per_issue_review"],
    [{ per_isue_review: { enabled: true } }, "did you mean per_issue_review"],
  ];
  for (const [config, word] of misplaced) {
    world.configure({ ...world.settings, ...config });
    const run = await world.ratchet("run");
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(word);
  }
  expect(world.sent("fix-it")).toEqual([]);
  expect(JSON.parse(await world.quick("logs", "list", "--json"))).toEqual([]);
});

test("B6 an enabled section chooses the reviewer of all reviews; a disabled one is ignored in every field", async () => {
  const world = resumeWorld();
  const [own, triggers] = [counting(world, "own"), counting(world, "trigger")];
  const review = (enabled: boolean, command: string[]) => ({ enabled, reviewer_type: "command", command });
  const configure = (enabled: boolean) =>
    world.configure({
      ...world.settings,
      per_issue_review: { ...review(enabled, own), max_retries: 1, finding_threshold: "P3" },
      validation_triggers: { session_end: { code_review: review(true, triggers) } },
    });
  configure(true);
  await world.add("one");
  expect((await world.ratchet("run")).code).toBe(0);
  expect([calls(world, "own"), calls(world, "trigger")]).toEqual([2, 0]);
  configure(false);
  await world.add("two");
  expect((await world.ratchet("run")).code).toBe(0);
  expect([calls(world, "own"), calls(world, "trigger")]).toEqual([2, 1]);
  expect(await world.issue("two")).toMatchObject({ message: "No review required", review_attempts: 0 });
});

test("B7 --disable-validations review leaves the reviewer of all other reviews as it is", async () => {
  const world = resumeWorld();
  world.configure({
    ...world.settings,
    per_issue_review: { enabled: true, reviewer_type: "command", command: counting(world, "own") },
    validation_triggers: { run_end: { code_review: { enabled: true } } },
  });
  await world.add("one");
  const run = await world.ratchet("run", "--disable-validations", "review");
  expect(run).toMatchObject({ code: 0 });
  expect(calls(world, "own")).toBe(1);
  expect(await world.issue("one")).toMatchObject({ message: "No review required", review_attempts: 0 });
  expect((await world.record()).run_end).toMatchObject({ status: "pass", code_review_result: { ran: true } });
});

test("B7 rounds: the flag before the file before 3; --disable-validations review leaves it out", async () => {
  const world = resumeWorld({ max_retries: 2 });
  const rounds = async (id: string, ...flags: string[]) => {
    await world.add(id);
    world.reviewerDoes(id, says("fail", blocking));
    await world.ratchet("run", id, ...flags);
    return (await world.issue(id)).review_attempts;
  };
  expect(await rounds("by-flag", "--max-review-retries", "5")).toBe(5);
  expect(await rounds("by-file")).toBe(2);
  expect(await rounds("none", "--max-review-retries", "0")).toBe(1);
  expect(await rounds("left-out", "--disable-validations", "review")).toBe(0);
  expect(await world.issue("left-out")).toMatchObject({ status: "success", message: "No review required" });
  const trigger = { session_end: { failure_mode: "remediate", max_retries: 4, commands: ["check"] } };
  world.configure({
    ...world.settings,
    per_issue_review: { enabled: false, max_retries: 2 },
    validation_triggers: trigger,
  });
  await world.add("disabled");
  await world.ratchet("run", "disabled");
  const { config } = await world.record();
  expect(config.per_issue_review.max_retries).toBe(3);
  expect(config.validation_triggers.session_end?.max_retries).toBe(4);
  const bad = await world.ratchet("run", "--max-review-retries", "-1");
  expect(bad).toMatchObject({ code: 2, stdout: "" });
  expect((await world.ratchet("run", "--disable-validations", "reviews")).code).toBe(2);
});

test("B10 an edit of the file during a run changes nothing for it", async () => {
  const world = resumeWorld({ max_retries: 2 });
  await world.add("fix-it");
  await world.add("later", { more: ["--dep", "fix-it"] });
  world.agentDoes("fix-it", ': >"$HOME/began"; while [ ! -e "$HOME/edited" ]; do sleep 0.05; done');
  const run = world.start(["run"]);
  await until("the first turn", () => existsSync(join(world.root, "began")));
  world.write("ratchet.yaml", "this is: [no configuration");
  world.put("edited", "");
  expect((await run.ended).code).toBe(0);
  const { config, issues } = await world.record();
  expect(config.per_issue_review.max_retries).toBe(2);
  expect(issues).toMatchObject({ "fix-it": { review_attempts: 1 }, later: { status: "success", review_attempts: 1 } });
});
