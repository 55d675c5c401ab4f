import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, until } from "../scenarios/sandbox.js";
import { outcomesOf, runOf, stagesOf, toldBy, workflowWorld } from "./world.js";

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

const calling = (start: string, work: string) => `workflow "${start}" {
  version 2
  start "${start}"
  stage "${start}" ${work}
  stage "last" kind="tool" command="touch begun; while ! test -f go; do sleep 0.05; done" timeout="20s"
  stage "exit" kind="exit"
  transition from="${start}" to="last"
  transition from="last" to="exit"
}`;

test("E4 a called workflow that was cancelled goes on inside when its caller is resumed", async () => {
  const world = workflowWorld();
  world.workflow("called.awf.kdl", calling("inner", 'kind="tool" command="echo inner >> ran"'));
  world.workflow("caller.awf.kdl", calling("outer", 'kind="workflow" ref="called.awf.kdl"'));
  const running = world.start(["workflow", "run", "caller.awf.kdl"]);
  await until("the called workflow is under way", () => existsSync(join(world.dir, "begun")));
  running.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
  world.write("go", "");
  const resumed = await world.run("caller.awf.kdl", "--resume", "--json");
  expect([resumed.code, outcomesOf(resumed)]).toEqual([
    0,
    ["last 1 success", "exit 1 success", "outer 1 success", "last 1 success", "exit 1 success"],
  ]);
  expect(world.read("ran")).toBe("inner\n");
  const followed = eventsOf({ stdout: await world.quick("logs", "follow", runOf(resumed), "--json") });
  expect(followed.flatMap((event) => (event.type === "run-finished" ? [event.exit_code] : []))).toEqual([130, 0]);
  expect(await world.record()).toMatchObject({ status: "succeeded", started_at: followed[0]?.time });
  expect(stagesOf(world, runOf(resumed))).toEqual(["01-outer", "02-outer", "03-last"]);
});

const asking = (name: string, more: string) => `workflow "${name}" {
  version 2
  start "${more === "" ? "approve" : "both"}"
  stage "approve" kind="human" prompt="Well?" { option "yes" to="exit"; option "no" to="exit" }
  stage "exit" kind="exit"
  ${more}
}`;

test("E7 gates of one name are told apart by their exact names, and none of them is answered by chance", async () => {
  const world = workflowWorld();
  world.workflow("sub.awf.kdl", asking("sub", ""));
  const more = `stage "both" kind="parallel" join="joined" { branch "own" "called" }; stage "joined" kind="join"
  stage "own" kind="workflow" ref="sub.awf.kdl"; stage "called" kind="workflow" ref="sub.awf.kdl"
  transition from="joined" to="approve"`;
  world.workflow("caller.awf.kdl", asking("caller", more));
  const running = world.start(["workflow", "run", "caller.awf.kdl", "--json"]);
  await until("both ask", () => running.stderr().match(/answer with: ratchet answer \w+\/approve/g)?.length === 2);
  const { run_id: run } = await world.record();
  const both = await world.ratchet("answer", "approve", "yes", "--json");
  const { code, message } = JSON.parse(both.stdout).error;
  expect([both.code, code]).toEqual([1, "ambiguous"]);
  for (const name of [`${run}/own/approve`, `${run}/called/approve`]) expect(message).toContain(name);
  expect((await world.ratchet("answer", `${run}/called/approve`, "yes")).code).toBe(0);
  expect((await world.ratchet("answer", "own/approve", "yes")).code).toBe(0);
  await until("the last asks", () => running.stderr().includes("answer with: ratchet answer approve"));
  expect((await world.ratchet("answer", "approve", "yes")).code).toBe(0);
  expect((await running.ended).code).toBe(0);
});

test("E7 until when a human gate waits is told as every other time is", async () => {
  const world = workflowWorld();
  world.workflow("plan.awf.kdl", asking("plan", "").replace('"Well?"', '"Well?" timeout="1h"'));
  const running = world.start(["workflow", "run", "plan.awf.kdl", "--json"]);
  await until("it asks", () => running.stderr().includes("answer with: ratchet answer approve"));
  const [asked] = JSON.parse(await world.quick("answer", "--json"));
  expect(asked.until).toBe(new Date(asked.until).toISOString());
  expect(JSON.parse(await world.quick("answer", "approve", "--json")).until).toBe(asked.until);
  expect((await world.ratchet("answer", "approve", "yes")).code).toBe(0);
  const waiting = eventsOf(await running.ended).flatMap((event) => (event.type === "waiting" ? [event.until] : []));
  expect(waiting).toEqual([asked.until]);
});

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

test.each(["stop", "drain"])(
  "%s without a name leaves a killed workflow alone: nobody takes that up unasked",
  async (name) => {
    const world = workflowWorld();
    world.workflow("plan.awf.kdl", gates);
    const killed = world.start(["workflow", "run", "plan.awf.kdl"]);
    await until("it asks", () => killed.stdout().includes("answer with: ratchet answer approve"));
    killed.kill("SIGKILL");
    await killed.ended;
    expect(await world.ratchet(name)).toMatchObject({ code: 1, stderr: expect.stringContaining("no run is at work") });
    expect((await world.ratchet("answer", "approve", "yes")).code).toBe(0);
    expect((await world.run("plan.awf.kdl", "--resume")).code).toBe(0);
  },
);

test("E7 a workflow that is stopped while it asks says so, takes the answer meanwhile and goes on with it", async () => {
  const world = workflowWorld();
  world.workflow("sub.awf.kdl", gates);
  world.workflow(
    "plan.awf.kdl",
    asking("plan", "")
      .replace('"yes" to="exit"', '"yes" to="call"')
      .replace(
        'stage "exit"',
        'stage "call" kind="workflow" ref="sub.awf.kdl"; transition from="call" to="exit"; stage "exit"',
      ),
  );
  const first = world.start(["workflow", "run", "plan.awf.kdl"]);
  await until("the question is told", () => first.stdout().includes("answer with: ratchet answer approve"));
  first.kill("SIGINT");
  const ended = await first.ended;
  const { run_id: run } = await world.record();
  const goOn = `go on with: ratchet workflow run ${join(world.dir, "plan.awf.kdl")} --resume ${run}\n`;
  expect(ended.code).toBe(130);
  expect(ended.stdout).toContain("approve has not been answered (yes, no)");
  expect(ended.stdout.endsWith(`${run}/approve: Well?\n  ratchet answer ${run}/approve <yes|no>\n${goOn}`)).toBe(true);
  const answered = await world.ratchet("answer", "approve", "yes");
  expect([answered.code, answered.stdout]).toEqual([0, `approve of run ${run}: yes\n${goOn}`]);
  expect((await world.ratchet("answer", "approve", "no")).stderr).toContain("answered already: yes");

  const second = world.start(["workflow", "run", "plan.awf.kdl", "--resume", run, "--json"]);
  await until("the called one asks", () => second.stderr().includes("answer with: ratchet answer call/approve"));
  expect((await world.ratchet("stop", run)).code).toBe(0);
  const stopped = await second.ended;
  expect(stopped.stderr.endsWith(goOn)).toBe(true);
  expect(eventsOf(stopped).filter((event) => event.type === "log" && event.level === "warn")).toMatchObject([
    {
      text: "approve has not been answered (yes, revise): it is asked again when the workflow goes on",
      calls: ["call"],
    },
  ]);
  expect((await world.ratchet("answer", `${run}/call/approve`, "yes")).code).toBe(0);
  const third = await world.run("plan.awf.kdl", "--resume", "--json");
  expect([third.code, outcomesOf(third).slice(0, 2)]).toEqual([0, ["approve 1 success", "exit 1 success"]]);
  expect(await world.quick("answer")).toContain("No gate is open");
});

test("E7 an answer that was taken after the stop, before the workflow had heard of either, counts when it goes on", async () => {
  const world = workflowWorld();
  world.workflow("plan.awf.kdl", asking("plan", ""));
  const first = world.start(["workflow", "run", "plan.awf.kdl"]);
  await until("the question is told", () => first.stdout().includes("answer with: ratchet answer approve"));
  first.kill("SIGSTOP");
  expect((await world.ratchet("stop")).code).toBe(0);
  expect((await world.ratchet("answer", "approve", "yes")).code).toBe(0);
  first.kill("SIGCONT");
  expect((await first.ended).code).toBe(130);
  const second = await world.run("plan.awf.kdl", "--resume", "--json");
  expect([second.code, outcomesOf(second)[0]]).toEqual([0, "approve 1 success"]);
});
