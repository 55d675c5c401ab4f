import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../scenarios/sandbox.js";
import { outcomesOf, runOf, toldBy, workflowWorld } from "./world.js";

const threeTools = (last: string) => `
workflow "tools" {
  version 2
  start "first"
  stage "first" kind="tool" command="echo first >> log"
  stage "slow" kind="tool" command="echo slow >> log; if test -f go; then exit 0; fi; sleep 600 & sleep 600"
  stage "${last}" kind="tool" command="echo ${last} >> log"
  stage "exit" kind="exit"
  transition from="first" to="slow"
  transition from="slow" to="${last}"
  transition from="${last}" to="exit"
}`;

test("E4 E5 a cancelled tool is gone within 3 s and run again by a resume, which goes on with an edited file but not without a stage that ran", async () => {
  const world = workflowWorld();
  world.workflow("tools.awf.kdl", threeTools("third"));
  const running = world.start(["workflow", "run", "tools.awf.kdl", "--json"]);
  await toldBy(running, "slow runs", (event) => event.type === "stage-started" && event.stage === "slow");
  await until("slow has begun", () => world.read("log") === "first\nslow\n");
  const at = Date.now();
  running.kill("SIGINT");
  const ended = await running.ended;
  expect(ended.code).toBe(130);
  expect(Date.now() - at).toBeLessThan(3000);
  expect(world.processes()).toEqual([]);
  expect((await world.record()).status).toBe("interrupted");

  world.workflow("tools.awf.kdl", threeTools("third").replaceAll('"first"', '"renamed"'));
  const refused = await world.run("tools.awf.kdl", "--resume");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("stage first is no longer in")]);
  expect(world.read("log")).toBe("first\nslow\n");

  world.write("go", "");
  world.workflow("tools.awf.kdl", threeTools("last"));
  const resumed = await world.run("tools.awf.kdl", "--resume", "--json");
  expect(resumed.code).toBe(0);
  expect(outcomesOf(resumed)).toEqual(["slow 1 success", "last 1 success", "exit 1 success"]);
  expect(world.read("log")).toBe("first\nslow\nslow\nlast\n");
  expect(runOf(resumed)).toBe(runOf(ended));
  const again = await world.run("tools.awf.kdl", "--resume");
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("has succeeded")]);
  expect(readFileSync(join(world.home, "runs", runOf(ended), "run.log"), "utf8")).toContain("stage slow: success");
});

const gates = `
workflow "plan" {
  version 2
  start "draft"
  stage "draft" kind="tool" command="echo the plan"
  stage "approve" kind="human" prompt="Is it good?" re_review=true details_from="tool.output" {
    option "yes" label="Approve" to="exit"
    option "revise" label="Change it" to="revise"
    require_feedback_on "revise"
  }
  stage "revise" kind="tool" command="echo $human.gate.feedback >> feedback"
  stage "exit" kind="exit"
  transition from="draft" to="approve"
  transition from="revise" to="approve"
}`;

test("E7 E10 a human gate waits across a kill, wants a known option and its feedback, is asked again after a revision, and can be approved in advance", async () => {
  const world = workflowWorld();
  world.workflow("plan.awf.kdl", gates);
  const first = world.start(["workflow", "run", "plan.awf.kdl"]);
  await until("the question is told", () => first.stdout().includes("answer with: ratchet answer approve"));
  expect(first.stdout()).toContain("approve asks: Is it good?\nthe plan\n");
  first.kill("SIGKILL");
  await first.ended;
  const wrong = await Promise.all([
    world.ratchet("answer", "approve", "maybe"),
    world.ratchet("answer", "approve", "revise", "--json"),
    world.ratchet("answer", "nothing", "yes"),
    world.ratchet("status", "--json"),
  ]);
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 1, 0]);
  expect(JSON.parse(wrong[1].stdout).error.code).toBe("feedback-missing");
  expect(wrong[2].stderr).toContain(`only the runs of this repository are looked at (${world.dir}): open are`);
  expect(JSON.parse(wrong[3].stdout).runs[0]).toMatchObject({
    driven: false,
    workflow_file: join(world.dir, "plan.awf.kdl"),
  });
  expect(JSON.parse(wrong[3].stdout).runs[0].issues[0]).toMatchObject({
    phase: "approve",
    waiting_for: "an answer to approve: ratchet answer approve <yes|revise>",
  });
  const { run_id: run } = await world.record();
  expect((await world.ratchet("answer", "approve", "revise", "--feedback", "it's $HOME; too long")).code).toBe(0);
  const second = world.start(["workflow", "run", "plan.awf.kdl", "--resume", run]);
  await until("it is asked again", () => second.stdout().includes("answer with: ratchet answer approve"));
  const third = await world.run("plan.awf.kdl", "--resume", run);
  expect([third.code, third.stderr]).toEqual([1, expect.stringMatching(/^ratchet: run .* drives it\n {2}hint: .*\n$/)]);
  expect(world.read("feedback")).toBe("it's $HOME; too long\n");
  expect((await world.ratchet("answer", `${run}/approve`, "yes")).code).toBe(0);
  expect((await second.ended).code).toBe(0);

  world.workflow("plan.awf.kdl", gates.replace(/( +option "yes".*\n)( +option "revise".*\n)/, "$2$1"));
  const approved = await world.run("plan.awf.kdl", "--approve-all", "--json");
  expect([approved.code, outcomesOf(approved).at(-1)]).toEqual([0, "exit 1 success"]);
  world.workflow("plan.awf.kdl", gates.replace("re_review=true", 're_review=true timeout="50ms"'));
  const late = await world.run("plan.awf.kdl", "--json");
  expect([late.code, outcomesOf(late)]).toEqual([1, ["draft 1 success", "approve 1 fail"]]);
});
