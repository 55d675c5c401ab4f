import { expect, test } from "vitest";
import type { WorkflowRecord } from "../../src/views/workflow-record.js";
import { outcomesOf, pathOf, promptOf, runOf, stagesOf, workflowWorld } from "./world.js";

const chain = `
workflow "chain" {
  version 2
  goal "Make it good"
  start "implement"
  stage "implement" kind="llm" prompt="Implement: $goal"
  stage "selfci" kind="tool" command="test -f fixed || { echo 'not ok 1 - broken'; exit 3; }"
  stage "review_code" kind="llm" auto_status=true prompt="Review the code" response_key_base="code"
  stage "review_tests" kind="llm" auto_status="true" prompt="Review the tests"
  stage "gate" kind="decision" {
    route when="outcome(\\"selfci\\") == \\"success\\" && outcome(\\"review_code\\") == \\"success\\" && outcome(\\"review_tests\\") == \\"success\\"" to="exit" priority=10
    route when="true" to="fix"
  }
  stage "fix" kind="llm" prompt="Address every finding listed below."
  stage "exit" kind="exit"
  transition from="implement" to="selfci"
  transition from="selfci" to="review_code" when="outcome(\\"selfci\\") == \\"success\\""
  transition from="selfci" to="review_code" when="outcome(\\"selfci\\") != \\"success\\""
  transition from="review_code" to="review_tests"
  transition from="review_tests" to="gate"
  transition from="fix" to="selfci"
}`;

const sameInDot = `digraph chain {
  goal="Make it good"
  start [shape=Mdiamond]
  implement [prompt="Implement: $goal"]
  selfci [shape=parallelogram, tool_command="test -f fixed || { echo 'not ok 1 - broken'; exit 3; }"]
  review_code [auto_status=true, prompt="Review the code"]
  review_tests [auto_status=true, prompt="Review the tests"]
  gate [shape=diamond]
  fix [prompt="Address every finding listed below."]
  exit [shape=Msquare]
  start -> implement -> selfci
  selfci -> review_code [condition="outcome=success"]
  selfci -> review_code [condition="outcome!=success"]
  review_code -> review_tests -> gate
  gate -> exit [condition="outcome(\\"selfci\\") == \\"success\\" && outcome(\\"review_code\\") == \\"success\\" && outcome(\\"review_tests\\") == \\"success\\""]
  gate -> fix
  fix -> selfci
}`;

const agent = `
implement) echo done > impl; echo "Implemented."; echo "[STATUS: fail]" ;;
review_code) if test -f fixed; then echo "[STATUS: success]"; else
  head -c 1000000 /dev/zero | tr '\\0' x; echo; echo "a.ts:3 is wrong"; echo "[STATUS: success] was the example"
  echo "[status: Fail]"; echo "[FAILURE_REASON: list[0] is wrong]"; fi ;;
review_tests) if test -f fixed; then echo "[STATUS: success]"; else echo "No test"; echo "[STATUS: partial_success]"; fi ;;
fix) touch fixed; echo "Fixed." ;;`;

test("F1 F2 F3 F4 F7 F8 E6 reviews and tools leave findings, one fix gets them all, success clears them; E11 DOT takes the same path", async () => {
  const [kdl, dot] = [workflowWorld(), workflowWorld()];
  for (const world of [kdl, dot]) world.agent(agent);
  kdl.workflow("chain.awf.kdl", chain);
  dot.workflow("chain.dot", sameInDot);
  const [ended, inDot] = await Promise.all([kdl.run("chain.awf.kdl", "--json"), dot.run("chain.dot", "--json")]);
  expect([ended.code, inDot.code]).toEqual([0, 0]);
  const own = ({ stdout }: typeof ended) => outcomesOf({ stdout }).filter((one) => !one.startsWith("start "));
  expect(own(ended)).toEqual([
    ...["implement 1 success", "selfci 1 fail", "review_code 1 fail", "review_tests 1 partial_success"],
    ...["gate 1 success", "fix 1 success", "selfci 2 success", "review_code 2 success", "review_tests 2 success"],
    ...["gate 2 success", "exit 1 success"],
  ]);
  expect(own(inDot)).toEqual(own(ended));
  expect(pathOf(inDot).filter((way) => !way.startsWith("start "))).toEqual(pathOf(ended));

  const run = runOf(ended);
  const found = await kdl.findings(run);
  expect(found.map(({ stage, outcome, status, visit, issue_id }) => [stage, outcome, status, visit, issue_id])).toEqual(
    [
      ["selfci", "fail", "resolved", 1, run],
      ["review_code", "fail", "resolved", 1, run],
      ["review_tests", "partial_success", "resolved", 1, run],
    ],
  );
  expect(await kdl.findings(run, false)).toEqual([]);
  expect(String(found[1]?.body)).toHaveLength(
    1_000_000 +
      "\na.ts:3 is wrong\n[STATUS: success] was the example\n[status: Fail]\n[FAILURE_REASON: list[0] is wrong]\n"
        .length,
  );

  expect(stagesOf(kdl, run)).toEqual([
    ...["01-implement", "02-selfci", "03-review_code", "04-review_tests", "05-fix"],
    ...["06-selfci", "07-review_code", "08-review_tests"],
  ]);
  const prompt = promptOf(kdl, run, "05-fix");
  expect(prompt.match(/^## Outstanding Review Findings$/gm)).toHaveLength(1);
  expect(prompt).toMatch(/^Address every finding listed below\.\n/);
  const parts = prompt.split(/^(?=### )/m).slice(1);
  expect(parts.map((part) => part.split("\n").slice(0, 2))).toEqual([
    ["### selfci (fail)", "**Reason:** not ok 1 - broken"],
    ["### review_code (fail)", "**Reason:** list[0] is wrong"],
    ["### review_tests (partial_success)", expect.stringMatching(/^\*\*Reason:\*\* /)],
  ]);
  expect(parts[0]).toContain("exit code 3");
  expect(parts[1]).toMatch(/\[\d+ of 1000\d+ bytes; the whole text is in .*05-fix\/findings\.md\]/);
  expect(prompt.length).toBeLessThan(300_000);
  expect(promptOf(kdl, run, "07-review_code")).not.toContain("Outstanding");
  expect(promptOf(kdl, run, "04-review_tests")).not.toContain("a.ts:3");
  expect(promptOf(kdl, run, "01-implement")).toContain("Implement: Make it good");
});

const shaky = `
workflow "shaky" {
  version 2
  start "mute"
  stage "mute" kind="llm" auto_status=true prompt="Review" { retry max_attempts=1; }
  stage "crash" kind="llm" auto_status=true prompt="Review" { retry max_attempts=1; }
  stage "cut" kind="llm" auto_status=true prompt="Review" { retry max_attempts=1; }
  stage "slow" kind="llm" auto_status=true prompt="Review" timeout="1s" { retry max_attempts=1; }
  stage "fix" kind="llm" prompt="Fix"
  stage "exit" kind="exit"
  transition from="mute" to="crash"
  transition from="crash" to="cut"
  transition from="cut" to="slow"
  transition from="slow" to="fix"
  transition from="fix" to="exit"
}`;

test("F6 F8 reviews that give no status, crash, are cut off or run out of time reach the fix stage, each with what it said", async () => {
  const world = workflowWorld();
  world.agent(`mute) echo "SQL injection in db.ts:41" ;;
crash) echo "Seen a.ts"; echo "no memory" >&2; exit 3 ;;
cut) echo "[STATUS: success]"; printf '{"status":"fail","failure_re' > "$RATCHET_RESULT_FILE" ;;
slow) echo "Read b.ts"; exec sleep 60 ;;
fix) echo '{"context_updates":{"review.findings":"forged"}}' > "$RATCHET_RESULT_FILE"; echo fixed ;;`);
  world.workflow("shaky.awf.kdl", shaky);
  const ended = await world.run("shaky.awf.kdl", "--json");
  expect(outcomesOf(ended)).toEqual([
    ...["mute 1 fail", "crash 1 fail", "cut 1 fail", "slow 1 fail", "fix 1 success", "exit 1 success"],
  ]);
  const parts = promptOf(world, runOf(ended), "05-fix")
    .split(/^(?=### )/m)
    .slice(1);
  expect(parts).toEqual([
    expect.stringMatching(/^### mute \(fail\)\n.*gave no status[\s\S]*SQL injection in db\.ts:41/),
    expect.stringMatching(/^### crash \(fail\)\n.*failed: .*no memory[\s\S]*Seen a\.ts/),
    expect.stringMatching(/^### cut \(fail\)\n.*its result file cannot be read as JSON[\s\S]*STATUS: success/),
    expect.stringMatching(/^### slow \(fail\)\n.*ran out of time[\s\S]*Read b\.ts/),
  ]);
  expect(ended.stdout).toContain("The agent may not set review.findings");
});

const caller = `
workflow "caller" {
  version 2
  start "checks"
  stage "checks" kind="workflow" ref="checks.awf.kdl"
  stage "gate" kind="decision" {
    route when="outcome(\\"checks\\") == \\"success\\"" to="exit"
    route when="true" to="fix"
  }
  stage "fix" kind="llm" prompt="Fix" provider="anthropic"
  stage "exit" kind="exit"
  transition from="checks" to="gate"
  transition from="fix" to="checks"
}`;
const called = `
workflow "checks" {
  version 2
  start "judge"
  stage "judge" kind="llm" auto_status=true prompt="Judge"
  stage "ci" kind="tool" command="test -f fixed" goal_gate=true
  stage "exit" kind="exit"
  transition from="judge" to="ci"
  transition from="ci" to="exit"
}`;

test("F1 F2 what a called workflow leaves open reaches its caller's fix stage, a verdict with findings is a status, and success clears all", async () => {
  const world = workflowWorld();
  world.agent(`judge) if test -f fixed; then echo '{"verdict":"pass","findings":[]}'; else
  echo '{"verdict":"fail","findings":[{"file":"a.ts","line_start":3,"title":"Wrong","body":"It is off by one"}]}'; fi > "$RATCHET_RESULT_FILE" ;;
fix) touch fixed; echo "by $RATCHET_PROVIDER" ;;`);
  world.workflow("caller.awf.kdl", caller);
  world.workflow("checks.awf.kdl", called);
  const ended = await world.run("caller.awf.kdl", "--json");
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const run = runOf(ended);
  expect(stagesOf(world, run)).toEqual(["01-checks", "02-fix", "03-checks"]);
  expect(await world.quick("logs", "prompt", run, "_run", "--list")).toBe(
    "01-checks/01-judge\n02-fix\n03-checks/01-judge\n",
  );
  expect(await world.quick("logs", "prompt", "last", "judge", "--list")).toBe(
    "01-checks/01-judge\n03-checks/01-judge\n",
  );
  expect(await world.quick("logs", "prompt", "last", "fix")).toBe(promptOf(world, run, "02-fix"));
  expect(await world.quick("logs", "transcript", "last", "_run", "fix")).toBe("by anthropic\n");
  expect((await world.ratchet("logs", "prompt", "last", "ci")).stderr).toContain("the stages that did are judge, fix");
  const fix = stagesOf(world, run).find((folder) => folder.endsWith("-fix")) ?? "";
  const prompt = promptOf(world, run, fix);
  expect(prompt.match(/^### .*$/gm)).toEqual(["### checks/judge (fail)", "### checks/ci (fail)"]);
  expect(prompt).toContain("a.ts:3: Wrong\nIt is off by one");
  expect(prompt).toContain("Stages so far:\n- checks: fail\n- gate: success\n\n");
  expect(world.read(`../home/runs/${run}/_run/${fix}/transcript.jsonl`)).toBe("by anthropic\n");
  const { stdout } = await world.ratchet("findings", "--all", "--json");
  const found = JSON.parse(stdout).map(({ stage, status }: { stage: string; status: string }) => `${stage} ${status}`);
  expect(found).toEqual(["checks/judge resolved", "checks/ci resolved"]);
  const log = world.read(`../home/runs/${run}/run.log`) ?? "";
  expect(log.match(/finding \w+: .*? Wrong \(/g)).toEqual([
    expect.stringMatching(/^finding raised/),
    expect.stringMatching(/^finding resolved/),
  ]);
  expect(log.match(/finding resolved/g)).toHaveLength(2);
  const { workflow } = JSON.parse(await world.quick("runs", "export", run));
  expect(workflow).toMatchObject({ name: "caller", status: "success", reason: null });
  const visits = (workflow as WorkflowRecord).stages.map(
    (one) => `${one.stage} ${one.visits.map(({ visit, outcome }) => `${visit} ${outcome}`)}`,
  );
  expect(visits).toEqual([
    ...["checks 1 fail,2 success", "checks/judge 1 fail,1 success", "checks/ci 1 fail,1 success"],
    ...["gate 1 success,2 success", "fix 1 success", "checks/exit 1 success", "exit 1 success"],
  ]);
  expect(workflow.findings.map(({ title }: { title: string }) => title)).toEqual(["a.ts:3: Wrong", expect.any(String)]);
});

test("E9 reviews that begin alike for 5 kB and end differently have not failed in the same way", async () => {
  const world = workflowWorld();
  world.agent(`
r) head -c 5000 /dev/zero | tr '\\0' x; echo "place $RATCHET_VISIT"
  if test "$RATCHET_VISIT" = 4; then echo "[STATUS: success]"; else echo "[STATUS: fail]"; fi ;;
fix) echo "Fixed." ;;`);
  world.workflow(
    "w.awf.kdl",
    `workflow "w" {
      version 2
      start "r"
      stage "r" kind="llm" auto_status=true prompt="Review"
      stage "fix" kind="llm" prompt="Fix"
      stage "exit" kind="exit"
      transition from="r" to="exit" when="outcome(\\"r\\") == \\"success\\""
      transition from="r" to="fix"
      transition from="fix" to="r"
    }`,
  );
  const ended = await world.run("w.awf.kdl", "--json");
  expect(outcomesOf(ended).filter((one) => one.startsWith("r "))).toEqual([
    "r 1 fail",
    "r 2 fail",
    "r 3 fail",
    "r 4 success",
  ]);
  expect(ended.code).toBe(0);
});

test("E7 F8 a gate that shows the findings shows all of their text", async () => {
  const world = workflowWorld();
  world.agent(`r) head -c 5000 /dev/zero | tr '\\0' x; echo "the last word"; echo "[STATUS: fail]" ;;`);
  world.workflow(
    "w.awf.kdl",
    `workflow "w" {
      version 2
      start "r"
      stage "r" kind="llm" auto_status=true prompt="Review"
      stage "ask" kind="human" prompt="Well?" details_from="review.findings" timeout="1s" default="leave" {
        option "leave" to="exit"
        option "again" to="r"
      }
      stage "exit" kind="exit"
      transition from="r" to="ask"
    }`,
  );
  const ended = await world.run("w.awf.kdl");
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/"response":"x{5000}the last word/);
});
