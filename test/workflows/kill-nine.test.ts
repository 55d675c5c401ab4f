import { expect, test } from "vitest";
import type { PublicEvent } from "../../src/core/report.js";
import { eventsOf, until } from "../scenarios/sandbox.js";
import { promptOf, stagesOf, type WorkflowWorld, workflowWorld } from "./world.js";

/** Reviews and a tool side by side, then a round of fixing, then a sub-workflow. */
const workflow = `
workflow "side-by-side" {
  version 2
  goal "Make it good"
  start "build"
  stage "build" kind="tool" command="echo built > built"
  stage "all" kind="parallel" join="joined" max_parallel=3 {
    branch "ci" "security" "style"
  }
  stage "ci" kind="tool" command="test -f fixed || { echo 'FAILED tests/a.py'; exit 1; }"
  stage "security" kind="llm" auto_status=true prompt="Is it safe?"
  stage "style" kind="llm" auto_status=true prompt="Is it clean?"
  stage "joined" kind="join" policy="all"
  stage "gate" kind="decision" {
    route when="outcome(\\"joined\\") == \\"success\\"" to="publish" priority=1
    route when="true" to="fix"
  }
  stage "fix" kind="llm" prompt="Fix it."
  stage "publish" kind="workflow" ref="publish"
  stage "exit" kind="exit"
  transition from="build" to="all"
  transition from="ci" to="joined"
  transition from="security" to="joined"
  transition from="style" to="joined"
  transition from="joined" to="gate"
  transition from="fix" to="all"
  transition from="publish" to="exit"
}`;
const publish = `
workflow "publish" {
  version 2
  start "write"
  stage "write" kind="tool" command="echo \\"$goal\\" > published"
  stage "exit" kind="exit"
  transition from="write" to="exit"
}`;
const agent = `
security) if test -f fixed; then echo "[STATUS: success]"; else echo "A hole in a.ts:3"; echo "[STATUS: fail]"; echo "[FAILURE_REASON: a hole]"; fi ;;
style) if test -f fixed; then echo "[STATUS: success]"; else echo "Long lines"; echo "[STATUS: partial_success]"; fi ;;
fix) echo x > fixed; echo "Fixed." ;;`;

function prepared(): WorkflowWorld {
  const world = workflowWorld();
  world.agent(agent);
  world.workflow("side.awf.kdl", workflow);
  world.workflow(".ratchet/workflows/publish.awf.kdl", publish);
  return world;
}

/** What it came to, whoever was killed on the way. */
async function outcome(world: WorkflowWorld) {
  const { run_id: run, status } = await world.record();
  const events = eventsOf(await world.ratchet("logs", "follow", run, "--json"));
  const ended = events.flatMap((event) =>
    event.type === "stage-ended" ? [`${event.stage} ${event.visit} ${event.outcome} ${event.attempts}`] : [],
  );
  const found = await world.findings(run);
  const fixed = stagesOf(world, run).find((folder) => folder.endsWith("-fix")) ?? "";
  return {
    status,
    ended: ended.sort(),
    findings: found.map(({ stage, visit, title, body, status: now, outcome: how }) => ({
      stage,
      visit,
      title,
      body: String(body).replace(/[\d.]+ s$/m, ""),
      now,
      how,
    })),
    told: promptOf(world, run, fixed).match(/^### .*$/gm),
    files: [world.read("built"), world.read("fixed"), world.read("published")],
  };
}

/** Told once a stage has begun or ended: the moments between two of them are the boundaries. */
const isBoundary = ({ type }: PublicEvent) => type === "stage-started" || type === "stage-ended";

test("E8 F9 killed with -9 at every stage boundary, inside of the parallel block too, a workflow ends with the same outcomes, findings and artifacts", async () => {
  const [calm, killed] = [prepared(), prepared()];
  const undisturbed = calm.run("side.awf.kdl");
  let kills = 0;
  for (let args = ["workflow", "run", "side.awf.kdl", "--json"]; ; args = [...args.slice(0, 3), "--resume", "--json"]) {
    const running = killed.start(args);
    running.onLine((line) => {
      if (isBoundary(JSON.parse(line))) running.kill("SIGKILL");
    });
    const { code, stderr } = await running.ended;
    if (code !== null) {
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^$|nothing to resume/)]);
      break;
    }
    kills += 1;
    expect(kills).toBeLessThan(60);
  }
  // Several boundaries may be told before the signal arrives; many are hit all the same.
  expect(kills).toBeGreaterThan(5);
  expect((await undisturbed).code).toBe(0);
  const [expected, got] = [await outcome(calm), await outcome(killed)];
  expect(expected.status).toBe("succeeded");
  expect(expected.findings.map(({ stage, visit }) => `${stage} ${visit}`)).toEqual(["ci 1", "security 1", "style 1"]);
  expect(expected.told).toEqual(["### ci (fail)", "### security (fail)", "### style (partial_success)"]);
  expect(got).toEqual(expected);
  await until("nothing is left over", () => killed.processes().length === 0);
});
