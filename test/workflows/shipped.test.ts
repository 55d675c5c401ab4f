import { expect, test } from "vitest";
import { eventsOf } from "../scenarios/sandbox.js";
import { outcomesOf, workflowWorld } from "./world.js";

const verdict =
  "test -f fixed && echo '[STATUS: success]' || printf 'Wrong\\n[STATUS: fail]\\n[FAILURE_REASON: it is wrong]\\n'";
const script = [
  { when: { stage: "implement" }, do: [{ write: { path: "work", text: "x" } }, { commit: "Work" }, { say: "Done." }] },
  { when: { stage: "review_code" }, do: [{ run: verdict }] },
  { when: { stage: "fix" }, do: [{ write: { path: "fixed", text: "x" } }, { commit: "Fix" }, { say: "Fixed." }] },
  { when: { stage: "plan" }, do: [{ say: "1. Do it." }] },
  { when: { stage: "save" }, do: [{ write: { path: "plan.md", text: "1. Do it." } }, { say: "Saved." }] },
  { when: { role: "stage" }, do: [{ say: "All is well.\n[STATUS: success]" }] },
];

test.each([
  ["quick-dev", 2],
  ["implement-plan", 2],
  ["parallel-review", 2],
  ["planning", 0],
])("the shipped workflow %s runs with the scripted agent", async (name, reviews) => {
  const world = workflowWorld();
  world.configure({ agent: { type: "scripted", script: world.put("script.yaml", JSON.stringify(script)) } });
  const env = { CI_COMMAND: "test -f fixed" };
  const args = ["workflow", "run", name, "--goal", "Faster", "--approve-all", "--json"];
  const ended = await world.start(args, { env }).ended;
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  expect(eventsOf(ended).at(-1)).toMatchObject({ type: "run-finished", status: "succeeded", exit_code: 0 });
  const outcomes = outcomesOf(ended);
  expect(outcomes.filter((one) => one.startsWith("review_code"))).toHaveLength(reviews);
  expect(outcomes.filter((one) => one.startsWith("fix "))).toHaveLength(reviews / 2);
  expect(outcomes).toContain(reviews > 0 ? "selfci 2 success" : "approval 1 success");
});
