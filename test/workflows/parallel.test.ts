import { expect, test } from "vitest";
import { outcomesOf, promptOf, runOf, stagesOf, workflowWorld } from "./world.js";

const block = (more: string, policy = 'policy="all"') => `
workflow "block" {
  version 2
  start "all"
  stage "all" kind="parallel" join="joined" ${more} {
    branch "one" "two" "three" "four"
  }
  stage "one" kind="llm" auto_status=true prompt="one"
  stage "two" kind="llm" auto_status=true prompt="two"
  stage "three" kind="tool" command="echo start three >> ../order; sleep 0.3; echo end three >> ../order; exit 4"
  stage "four" kind="tool" command="sleep 60"
  stage "joined" kind="join" ${policy}
  stage "fix" kind="llm" prompt="Fix"
  stage "exit" kind="exit"
  transition from="one" to="joined"
  transition from="two" to="joined"
  transition from="three" to="joined"
  transition from="four" to="joined"
  transition from="joined" to="exit" when="outcome(\\"joined\\") == \\"success\\""
  transition from="joined" to="fix" when="outcome(\\"joined\\") != \\"success\\""
  transition from="fix" to="exit"
}`;
const agent = `
one) sleep 0.5; echo "One is wrong"; echo "[STATUS: fail]" ;;
two) kill -9 $$ ;;
fix) echo "Fixed." ;;`;

test("E8 branches run at once within their limits, a branch that is late or breaks loses and delays nothing of the others, and findings keep the order of the branches", async () => {
  const [world, alone] = [workflowWorld(), workflowWorld()];
  for (const one of [world, alone]) one.agent(agent);
  world.workflow("block.awf.kdl", block('branch_timeout="2s"'));
  alone.workflow(
    "block.awf.kdl",
    block('branch_timeout="1s" max_parallel=1', 'policy="any"').replace(
      'four" kind="tool" command="sleep 60"',
      'four" kind="tool" command="true"',
    ),
  );
  const [ended, any] = await Promise.all([world.run("block.awf.kdl", "--json"), alone.run("block.awf.kdl", "--json")]);
  expect([ended.code, any.code]).toEqual([0, 0]);
  expect(outcomesOf(ended)).toContain("joined 1 fail");
  const run = runOf(ended);
  const fix = stagesOf(world, run).find((folder) => folder.endsWith("-fix")) ?? "";
  const told = promptOf(world, run, fix).match(/^### .*$/gm);
  expect(told).toEqual(["### one (fail)", "### two (fail)", "### three (fail)", "### four (fail)"]);
  expect(outcomesOf(any)).toContain("joined 1 success");
  expect(outcomesOf(any)).toContain("four 1 success");
});

test("E8 where a review commits while another one reads beside it, both look again at what is there then, one after the other", async () => {
  const world = workflowWorld();
  world.agent(`
one) if test "$RATCHET_VISIT" = 1; then until test -e ../read; do sleep 0.02; done; echo more >> README.md; git commit -qam more; touch ../meddled; fi
  echo "one $RATCHET_VISIT: $(tail -n 1 README.md)" >> ../said; echo "[STATUS: success]" ;;
two) line=$(tail -n 1 README.md); touch ../read; until test -e ../meddled; do sleep 0.02; done
  echo "two $RATCHET_VISIT: $line" >> ../said; echo report > report-$RATCHET_VISIT; echo "[STATUS: success]" ;;`);
  world.workflow(
    "w.awf.kdl",
    `workflow "w" {
      version 2
      start "all"
      stage "all" kind="parallel" join="joined" { branch "one" "two" "ci" }
      stage "one" kind="llm" auto_status=true prompt="one"
      stage "two" kind="llm" auto_status=true prompt="two"
      stage "ci" kind="tool" command="true"
      stage "joined" kind="join"
      stage "exit" kind="exit"
      transition from="one" to="joined"
      transition from="two" to="joined"
      transition from="ci" to="joined"
      transition from="joined" to="exit"
    }`,
  );
  const ended = await world.run("w.awf.kdl");
  expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining("one after the other: one, two\n")]);
  const said = world.read("../said").trim().split("\n");
  expect(said.slice(0, 2).sort()).toEqual(["one 1: more", "two 1: # A shop"]);
  expect(said.slice(2)).toEqual(["one 2: more", "two 2: more"]);
});
