import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attemptsOf, eventsOf, sandbox, until } from "./sandbox.js";

const workflow = `
workflow "dev" {
  version 2
  start "implement"
  stage "implement" kind="llm" prompt="$goal"
  stage "review" kind="llm" auto_status=true prompt="Review it"
  stage "gate" kind="decision" {
    route when="outcome(\\"review\\") == \\"success\\"" to="exit" priority=1
    route when="true" to="fix"
  }
  stage "fix" kind="llm" prompt="Fix it"
  stage "exit" kind="exit"
  transition from="implement" to="review"
  transition from="review" to="gate"
  transition from="fix" to="review"
}`;
const agent = `
cat > prompt
commit() { echo "$1" >> done; git add done; git commit -qm "$1"; }
case "$RATCHET_STAGE_ID" in
implement) echo "implement $RATCHET_ISSUE_ID" >> "$LOG"; if grep -q "test failed: exit 7" prompt; then echo x > good; git add good; fi; rm prompt; commit implement; echo Done ;;
review) rm prompt; if test -f fixed; then echo "[STATUS: success]"; else echo "It is wrong"; echo "[STATUS: fail]"; fi ;;
fix) grep -c "^### review (fail)$" prompt >> "$LOG"; rm prompt; touch fixed; git add fixed; commit fix; echo Fixed ;;
esac`;

test("agent.workflow implements an issue by a workflow on the issue's ledger; what the gate finds goes to it again, and a kill -9 in the middle loses nothing", async () => {
  const box = sandbox();
  const log = join(box.root, "stages.log");
  box.write(".ratchet/workflows/dev.awf.kdl", workflow);
  box.configure({
    commands: { test: "test -f good || exit 7" },
    evidence_check: { required: ["test"] },
    agent: { type: "command", command: box.script("agent.sh", agent), workflow: "dev", env: ["PATH", "HOME", "LOG"] },
  });
  await box.add("shop-1", { title: "Make it good", body: "As good as gold" });
  const env = { LOG: log };
  const first = box.start(["run", "--json"], { env });
  first.onLine((line) => {
    const event = JSON.parse(line);
    if (event.type === "stage-ended" && event.stage === "implement") first.kill("SIGKILL");
  });
  expect((await first.ended).code).toBe(null);
  const ended = await box.start(["run", "--json"], { env }).ended;
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining("Continuing run")]);
  const issue = await box.issue("shop-1");
  expect(issue).toMatchObject({ status: "success", gate_attempts: 2 });
  expect(box.read("../stages.log")).toBe("implement shop-1\n1\nimplement shop-1\n");
  const { run_id: run } = await box.record();
  const folders = attemptsOf(box, run, "shop-1");
  expect(folders).toEqual(["01-implementer", "02-gate", "03-gate_followup", "04-gate"]);
  const stages = (folder: string) => attemptsOf(box, run, join("shop-1", folder)).filter((name) => /^\d/.test(name));
  expect(stages("01-implementer")).toEqual(["01-implement", "02-review", "03-fix", "04-review"]);
  expect(stages("03-gate_followup")).toEqual(["01-implement", "02-review"]);
  const goal = readFileSync(join(box.home, "runs", run, "shop-1", "03-gate_followup", "prompt.md"), "utf8");
  expect(goal).toMatch(/As good as gold[\s\S]*test failed: exit 7/);
  const found = JSON.parse((await box.ratchet("findings", "shop-1", "--all", "--json")).stdout);
  const told = found.map(({ stage, status }: { stage: string; status: string }) => `${stage} ${status}`);
  expect(told.sort()).toEqual(["gate resolved", "review resolved"]);
  expect(issue.findings).toEqual({ open: 0, resolved: 2 });
  expect(existsSync(join(box.dir, "good"))).toBe(true);
  expect(eventsOf(ended).some((event) => event.type === "stage-ended" && event.issue_id === "shop-1")).toBe(true);
});

test("A6 a workflow that deletes its issue's worktree fails by that name; what its stages used and where it stands is recorded", async () => {
  const box = sandbox();
  const [first = ""] = workflow.split('  stage "review"');
  box.write(
    ".ratchet/workflows/dev.awf.kdl",
    `${first}  stage "exit" kind="exit"\n  transition from="implement" to="exit"\n}`,
  );
  const told = `echo '{"usage": {"input_tokens": 900, "output_tokens": 100}}' > "$RATCHET_RESULT_FILE"`;
  const command = box.script("agent.sh", `cat > /dev/null; ${told}; echo Done; d="$PWD"; cd /; rm -rf "$d"`);
  box.configure({ agent: { type: "command", command, workflow: "dev" } });
  await box.add("shop-1");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.issue("shop-1")).toMatchObject({
    message: expect.stringMatching(/^The turn could not be brought to its end: .* is not there$/),
    session_id: expect.stringContaining("shop-1"),
    usage: { input_tokens: 900, output_tokens: 100 },
  });
});

const gated = `
workflow "gated" {
  version 2
  start "plan"
  stage "plan" kind="llm" prompt="$goal"
  stage "approval" kind="human" prompt="Is this the plan?" details_from="plan.response" {
    option "approve" label="Approve" to="build"
    option "revise" label="Revise" to="plan"
    require_feedback_on "revise"
  }
  stage "build" kind="llm" prompt="Build it"
  stage "exit" kind="exit"
  transition from="plan" to="approval"
  transition from="build" to="exit"
}`;

test("E7 a gate of an issue's workflow is told with its plan and its command, in the run, in status and by explain, again after a kill -9; logs reach the stages' prompts", async () => {
  const box = sandbox();
  box.write(".ratchet/workflows/gated.awf.kdl", gated);
  const work = `
case "$RATCHET_STAGE_ID" in
plan) cat > /dev/null; echo "First this, then that" ;;
build) cat > /dev/null; echo x > built; git add built; git commit -qm build; echo Built ;;
esac`;
  const agent = { type: "command", command: box.script("agent.sh", work), workflow: "gated" };
  box.configure({ agent });
  await box.add("g-1", { title: "Plan it" });
  const command = "ratchet answer g-1/approval <approve|revise>";
  const killed = box.start(["run"]);
  await until("the question is told", () => killed.stdout().includes(`answer with: ${command}`));
  expect(killed.stdout()).toContain("g-1: implementer by workflow gated, attempt 1 of ");
  killed.kill("SIGKILL");
  await killed.ended;
  const run = box.start(["run"]);
  await until("it is told again", () => run.stdout().includes(`answer with: ${command}`));
  expect(run.stdout()).toContain("g-1: approval asks: Is this the plan?\ng-1: First this, then that\n");
  const { runs } = JSON.parse(await box.quick("status", "--json"));
  expect(runs[0].issues).toMatchObject([{ issue_id: "g-1", waiting_for: `an answer to approval: ${command}` }]);
  const told = JSON.parse(await box.quick("explain", "g-1", "--json"));
  expect(told).toMatchObject({ reason: expect.stringContaining("approval asks: Is this the plan?"), next: command });
  expect(await box.quick("answer", "g-1/approval")).toContain("First this, then that");
  await box.quick("answer", "g-1/approval", "approve");
  expect((await run.ended).code).toBe(0);
  expect(await box.quick("logs", "prompt", "last", "g-1", "--list")).toBe(
    "01-implementer/01-plan\n01-implementer/02-build\n",
  );
  expect(await box.quick("logs", "prompt", "last", "g-1")).toContain("Build it");
  expect(await box.quick("logs", "prompt", "last", "g-1", "01/1")).toContain("Plan it");
  expect(await box.quick("logs", "transcript", "last", "g-1", "01-implementer/01-plan")).toContain("First this");
  box.configure({ agent: { ...agent, workflow: "nosuch" } });
  const check = await box.ratchet("config", "check");
  expect([check.code, check.stderr]).toEqual([
    2,
    expect.stringMatching(/^ratchet\.yaml:\d+:\d+: agent\.workflow: there is no workflow nosuch\n/),
  ]);
  expect(check.stderr).toContain(join(box.dir, ".ratchet/workflows"));
});

test("E7 a gate of an issue's workflow that was stopped is answered meanwhile, once, and the issue goes on with it", async () => {
  const box = sandbox();
  box.write(".ratchet/workflows/gated.awf.kdl", gated);
  const work = `cat > /dev/null; echo $RATCHET_STAGE_ID | tee -a work; git add work; git commit -qm work`;
  box.configure({ agent: { type: "command", command: box.script("agent.sh", work), workflow: "gated" } });
  await box.add("g-1", { title: "Plan it" });
  const first = box.start(["run"]);
  await until("the question is told", () => first.stdout().includes("answer with: "));
  first.kill("SIGTERM");
  expect((await first.ended).code).toBe(130);
  expect(await box.quick("answer", "g-1/approval", "approve")).toContain("go on with: ratchet run --resume g-1\n");
  expect((await box.ratchet("answer", "g-1/approval", "approve")).stderr).toContain("answered already: approve");
  expect(await box.quick("answer")).toMatch(
    /^No gate is open .*\n\S+\/g-1\/approval: answered with approve; go on with: /,
  );
  expect((await box.ratchet("run", "--resume", "g-1")).code).toBe(0);
  expect(box.read("work")).toBe("plan\nbuild\n");
  expect(await box.quick("answer")).toContain("No gate is open");
});

test("E7 a gate that was answered after a stop is asked again by a run without --resume, which says so, and is one gate", async () => {
  const box = sandbox();
  box.write(".ratchet/workflows/gated.awf.kdl", gated);
  const work = `cat > /dev/null; echo $RATCHET_STAGE_ID >> work; git add work; git commit -qm work; echo Done`;
  box.configure({ agent: { type: "command", command: box.script("agent.sh", work), workflow: "gated" } });
  await box.add("g-1", { title: "Plan it" });
  const first = box.start(["run"]);
  await until("the question is told", () => first.stdout().includes("answer with: "));
  first.kill("SIGTERM");
  await first.ended;
  await box.quick("answer", "g-1/approval", "approve");
  const second = box.start(["run"]);
  await until("the question is told again", () => second.stdout().includes("answer with: "));
  expect(second.stderr()).toContain("g-1 begins anew: approval, which was answered with approve, is asked again; ");
  expect(await box.quick("answer")).toBe(
    "g-1/approval: Is this the plan?\n  ratchet answer g-1/approval <approve|revise>\n",
  );
  await box.quick("answer", "g-1/approval", "approve");
  expect((await second.ended).code).toBe(0);
});

test("F9 an issue that was stopped in the middle of its workflow goes on there in its next life, and visits go on", async () => {
  const box = sandbox();
  const log = join(box.root, "stages.log");
  const wait = box.put("wait", "");
  const stages = `
cat >/dev/null
echo "$RATCHET_STAGE_ID $RATCHET_VISIT" >> "$LOG"
case "$RATCHET_STAGE_ID" in
implement) echo one > one; git add one; git commit -qm one; echo Done ;;
review) if test -f fixed; then echo "[STATUS: success]"; else echo "It is wrong"; echo "[STATUS: fail]"; fi ;;
fix) while [ -e ${wait} ]; do sleep 0.05; done; touch fixed; git add fixed; git commit -qm fix; echo Fixed ;;
esac`;
  box.write(".ratchet/workflows/dev.awf.kdl", workflow);
  const command = box.script("agent.sh", stages);
  box.configure({ agent: { type: "command", command, workflow: "dev", env: ["PATH", "HOME", "LOG"] } });
  await box.add("shop-1", { title: "Make it good" });
  const env = { LOG: log };
  const first = box.start(["run"], { env });
  await until("the fix stage waits", () => existsSync(log) && readFileSync(log, "utf8").includes("fix 1"));
  first.kill("SIGTERM");
  expect((await first.ended).code).toBe(130);
  expect(await box.issue("shop-1")).toMatchObject({ status: "interrupted" });
  rmSync(wait);
  expect((await box.start(["run", "--resume"], { env }).ended).code).toBe(0);
  expect(readFileSync(log, "utf8").trim().split("\n")).toEqual([
    "implement 1",
    "review 1",
    "fix 1",
    "fix 1",
    "review 2",
  ]);
  expect(await box.issue("shop-1")).toMatchObject({ status: "success", findings: { open: 0, resolved: 1 } });
});
