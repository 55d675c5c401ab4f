import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rounds } from "../rounds.js";
import { chance, expectNothingLeft, expectOneStory, freshSeed, killUntilDone, outcomeOf } from "./kill-loop.js";
import { type Sandbox, until } from "./sandbox.js";
import { isWaitedFor, ownReview, pass, putOwnReview, triggerBox, waitFor } from "./trigger-world.js";

/** session_end and run_end both need a fixer once; everybody takes a moment. */
async function board(): Promise<Sandbox> {
  const box = triggerBox({
    commands: {
      check: "sleep 0.1",
      own: 'sleep 0.1; grep -q fixer "$RATCHET_ISSUE_ID.txt"',
      every: "sleep 0.1",
      whole: "sleep 0.1; test -e run.txt",
    },
    triggers: {
      session_end: { failure_mode: "remediate", max_retries: 2, commands: ["every", "own"] },
      periodic: { interval: 2, commands: ["every"] },
      run_end: { failure_mode: "remediate", max_retries: 2, commands: ["every", "whole"], code_review: ownReview() },
    },
    agent: 'echo "$(dirname "$RATCHET_RESULT_FILE")" >>"$HOME/starts"; sleep 0.2',
    more: { evidence_check: { required: ["check"] } },
  });
  putOwnReview(box, `echo "$(dirname "$RATCHET_RESULT_FILE")" >>"$HOME/starts"; sleep 0.2; ${pass}`);
  for (const id of ["a", "b", "c", "d"]) await box.add(id);
  return box;
}

test("D1 killed again and again, triggers end as undisturbed ones do, each agent is asked once", {
  timeout: 240_000,
}, async () => {
  const seed = freshSeed();
  const [calm, killed] = await Promise.all([board(), board()]);
  expect((await calm.ratchet("run")).code).toBe(0);
  const wanted = await outcomeOf(calm);
  const { kills, last, printed } = await killUntilDone(killed, chance(seed), rounds(10, 20));
  const told = `seed ${seed}, ${kills} kills, last words: ${last.stderr}`;
  expect(last.code, told).toBe(0);
  const plain = (outcome: Awaited<ReturnType<typeof outcomeOf>>, run: string) =>
    JSON.parse(JSON.stringify(outcome).replaceAll(run, "<run>"));
  const [before, after] = [await calm.record(), await killed.record()];
  expect(plain(await outcomeOf(killed), after.run_id), told).toEqual(plain(wanted, before.run_id));
  expect([after.run_end?.status, after.run_end?.reason], told).toEqual(["pass", null]);
  expect(Object.values(after.issues).map((issue) => issue.session_end_result?.status)).toEqual(Array(4).fill("pass"));
  const starts = readFileSync(join(killed.root, "starts"), "utf8").trim().split("\n");
  expect(
    starts.filter((folder, at) => starts.indexOf(folder) !== at),
    told,
  ).toEqual([]);
  expectOneStory(printed);
  const types = printed.split("\n").flatMap((line) => /"type":"(run-end-[a-z]+)"/.exec(line)?.[1] ?? []);
  expect(types, told).toEqual(["run-end-started", "run-end-completed"]);
  await expectNothingLeft(killed);
});

test("what triggers have cost before a kill counts against the run's budget after it", async () => {
  const box = triggerBox({
    commands: {},
    triggers: { periodic: { interval: 1, commands: [], code_review: ownReview() } },
    agent: `test "$RATCHET_ISSUE_ID" != b || { ${waitFor("go")}; }`,
    more: { max_agents: 2, budgets: { run: { usd: 1 } } },
  });
  const verdict =
    '{"verdict": "pass", "findings": [], "usage": {"input_tokens": 1, "output_tokens": 1, "cost_usd": 0.6}}';
  putOwnReview(box, `echo '${verdict}' >"$RATCHET_RESULT_FILE"`);
  await box.add("a");
  await box.add("b");
  await box.add("c", { more: ["--dep", "b"] });
  const run = box.start(["run"]);
  await until("periodic has reviewed a", () => run.stdout().includes("periodic completed: finished=1"));
  await until("b is worked on", () => isWaitedFor(box, "go"));
  run.kill("SIGKILL");
  await run.ended;
  box.put("go", "");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(1);
  expect(ended.stdout).toContain("The run's budget is used up: 1.20 of 1 USD");
});
