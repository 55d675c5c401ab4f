import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf } from "../scenarios/sandbox.js";
import { outcomesOf, promptOf, runOf, stagesOf, workflowWorld } from "./world.js";

/** Every turn costs 100 tokens. */
const dear = `*) echo '{"usage": {"input_tokens": 60, "output_tokens": 40}}' > "$RATCHET_RESULT_FILE"; echo Done ;;`;

const chain = (name: string, stages: readonly string[]) => `
workflow "${name}" {
  version 2
  goal "the file's goal"
  start "${stages[0]}"
  ${stages.map((id) => `stage "${id}" kind="llm" prompt="$goal"`).join("\n  ")}
  stage "exit" kind="exit"
  ${stages.map((id, at) => `transition from="${id}" to="${stages[at + 1] ?? "exit"}"`).join("\n  ")}
}`;

const beside = `
workflow "beside" {
  version 2
  start "wait"
  stage "wait" kind="tool" command="[ $RATCHET_ISSUE_ID = b ] || until [ -e $HOME/b-runs ]; do sleep 0.1; done"
  stage "split" kind="parallel" join="joined" { branch "one" "two" }
  stage "one" kind="llm" prompt="Look at it"
  stage "two" kind="llm" prompt="Look at it"
  stage "joined" kind="join"
  stage "exit" kind="exit"
  transition from="wait" to="split"
  transition from="one" to="joined"
  transition from="two" to="joined"
  transition from="joined" to="exit"
}`;

test("E4 a run's budget holds over resumes: no turn starts until it is raised in ratchet.yaml, and the goal given last stays", async () => {
  const world = workflowWorld();
  const limited = (tokens: number) => world.agent(dear, { budgets: { run: { tokens } } });
  limited(150);
  world.workflow("chain.awf.kdl", chain("chain", ["a", "b", "c", "d", "e"]));
  const first = await world.run("chain.awf.kdl", "--json");
  expect([first.code, outcomesOf(first)]).toEqual([1, ["a 1 success", "b 1 success"]]);
  const run = runOf(first);
  const refused = await world.run("chain.awf.kdl", "--resume");
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toMatch(/has used up its budget: 200 of 150 tokens\n {2}hint: raise budgets\.run/);
  expect(stagesOf(world, run)).toEqual(["01-a", "02-b"]);

  limited(250);
  const other = await world.run("chain.awf.kdl", "--resume", "--json", "--goal", "another goal");
  expect([other.code, outcomesOf(other)]).toEqual([1, ["c 1 success"]]);
  expect(other.stdout).toContain("300 of 250 tokens");
  limited(1000);
  const last = await world.run("chain.awf.kdl", "--resume", "--json");
  expect([last.code, outcomesOf(last)]).toEqual([0, ["d 1 success", "e 1 success", "exit 1 success"]]);
  expect(promptOf(world, run, "02-b")).toContain("the file's goal");
  for (const folder of ["03-c", "04-d"]) expect(promptOf(world, run, folder)).toContain("another goal");
});

test("a turn that has waited for its place does not start once another issue has used up the budget", async () => {
  const world = workflowWorld();
  // Those of `b` have both places when those of `a` come to wait for one.
  const late = `echo "$RATCHET_ISSUE_ID" >> "$HOME/started"; touch "$HOME/b-runs"; sleep 2`;
  const command = world.script("agent.sh", `cat > /dev/null\n${late}\ncase one in\n${dear}\nesac\n`);
  const agent = { type: "command", command, workflow: "beside" };
  world.configure({ agent, max_agents: 2, budgets: { run: { tokens: 50 } } });
  world.workflow(".ratchet/workflows/beside.awf.kdl", beside);
  for (const id of ["a", "b"]) await world.add(id);
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(1);
  expect(readFileSync(join(world.root, "started"), "utf8")).toBe("b\nb\n");
  expect(run.stdout).toContain("of 50 tokens");
});

test("an issue whose workflow uses up the issue's budget, in a called workflow too, is escalated with a dossier, and no resume renews it", async () => {
  const world = workflowWorld();
  const command = world.script("agent.sh", `cat > /dev/null\ncase one in\n${dear}\nesac\n`);
  world.configure({ agent: { type: "command", command, workflow: "outer" }, budgets: { issue: { tokens: 250 } } });
  world.workflow(".ratchet/workflows/inner.awf.kdl", chain("inner", ["a", "b", "c"]));
  const calling = chain("outer", ["first", "call", "last"]).replace(
    'stage "call" kind="llm" prompt="$goal"',
    'stage "call" kind="workflow" ref="inner"',
  );
  world.workflow(".ratchet/workflows/outer.awf.kdl", calling);
  await world.add("dear-1");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(1);
  expect(outcomesOf(run)).toEqual(["first 1 success", "a 1 success", "b 1 success"]);
  const escalated = eventsOf(run).find((event) => event.type === "escalated");
  expect(escalated).toMatchObject({ reason: "The issue's budget is used up: 300 of 250 tokens" });
  const dossier = escalated?.type === "escalated" ? (escalated.dossier ?? "") : "";
  const told = JSON.parse(readFileSync(dossier.replace(/md$/, "json"), "utf8"));
  const folders = ["01-implementer/01-first", "01-implementer/02-call/01-a", "01-implementer/02-call/02-b"];
  const turn = { role: "stage", kind: "stage", attempt: 1, max_attempts: 1, exit_code: 0 };
  expect(told.attempts).toEqual(folders.map((folder) => ({ folder, ...turn })));
  expect(told.prompts).toEqual(folders.map((folder) => join(dirname(dossier), folder, "prompt.md")));
  for (const prompt of told.prompts) expect(existsSync(prompt)).toBe(true);
  expect(readFileSync(dossier, "utf8")).toContain("- 01-implementer/02-call/01-a: stage, 1 of 1, exit 0\n");
  expect(await world.status("dear-1")).toBe("waiting_for_response");
  expect(eventsOf(await world.ratchet("run", "--resume", "--json")).map(({ type }) => type)).not.toContain(
    "turn-ended",
  );
});

const reviews = `
workflow "outer" {
  version 2
  start "split"
  stage "split" kind="parallel" join="joined" { branch "one" "two" "call" }
  stage "one" kind="llm" auto_status=true prompt="Review it"
  stage "two" kind="llm" auto_status=true prompt="Review it"
  stage "call" kind="workflow" ref="inner"
  stage "joined" kind="join" policy="any"
  stage "exit" kind="exit"
  transition from="one" to="joined"
  transition from="two" to="joined"
  transition from="call" to="joined"
  transition from="joined" to="exit"
}`;

test("turns beside the one that uses up the issue's budget come to their end, in a called workflow too, and count; none begins after it", async () => {
  const world = workflowWorld();
  const cost = `echo '{"usage": {"input_tokens": 60, "output_tokens": 40}}' > "$RATCHET_RESULT_FILE"`;
  const wait = `echo "$RATCHET_STAGE_ID" >> "$HOME/started"; until [ -e "$HOME/go" ]; do sleep 0.05; done`;
  const cases = `one) until [ "$(wc -l < "$HOME/started")" = 2 ]; do sleep 0.05; done; ${cost}; echo "[STATUS: success]" ;;
two) ${wait}; ${cost}; echo "[STATUS: fail]"; echo "[FAILURE_REASON: it is wrong]" ;;
*) ${wait}; ${cost}; echo Done ;;`;
  const command = world.script("agent.sh", `cat > /dev/null\ncase "$RATCHET_STAGE_ID" in\n${cases}\nesac\n`);
  const agent = { type: "command", command, workflow: "outer" };
  world.configure({ agent, max_agents: 3, budgets: { issue: { tokens: 100 } } });
  world.workflow(".ratchet/workflows/outer.awf.kdl", reviews);
  world.workflow(".ratchet/workflows/inner.awf.kdl", chain("inner", ["a", "b"]));
  world.put("started", "");
  await world.add("dear-1");
  const run = world.start(["run", "--json"]);
  run.onLine((line) => {
    const event = JSON.parse(line);
    if (event.type === "stage-ended" && event.stage === "one") world.put("go", "");
  });
  const ended = await run.ended;
  expect(ended.code).toBe(1);
  const told = outcomesOf(ended).map((one) => one.replace(" 1 ", " "));
  expect(told.sort()).toEqual(["a success", "one success", "two fail"]);
  const { usage } = await world.issue("dear-1");
  expect(usage).toMatchObject({ input_tokens: 180, output_tokens: 120 });
  expect(await world.findings("dear-1")).toMatchObject([{ stage: "two", status: "open", title: "it is wrong" }]);
});
