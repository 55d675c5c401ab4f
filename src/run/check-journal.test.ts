import { expect, test } from "vitest";
import { policyOf, start, World } from "../core/issue/fixture.js";
import type { PullRequestItem } from "../core/issue/policy.js";
import type { RunEvent } from "../core/run/effects.js";
import { newRun, runMachine } from "../core/run/machine.js";
import { runPolicy } from "../core/run/policy.js";
import { checkJournal } from "./check-journal.js";
import { issueMachineId, runMachineId } from "./context.js";

const options = { scope: { type: "all" }, resume: false, strict: false, fresh: false, maxIssues: null } as const;

/** A run whose only life is this item's, recorded as it was led; `patch`: what is stored is not that. */
async function check(source: PullRequestItem["source"], patch: object = {}) {
  const item = { source, issueId: "p-1", prNumber: 7, cycle: 1, session: null };
  const policy = policyOf({ item, review: {}, settings: { finalize: { mode: "pr", into: null } } });
  const begin = { ...start, issueId: `${source}-7`, item };
  const world = new World(policy, begin).play();
  const picked: RunEvent = { type: "picked", key: "pick:1", start: begin };
  const arrivals = [{ type: "started", at: 1 } as const, { ...picked, at: 2 }];
  const transition = runMachine(runPolicy(policy.settings, options));
  const run = arrivals.reduce((state, arrival) => transition(state, arrival).state, newRun());
  const [runId, lifeId] = [runMachineId(policy.runId), issueMachineId(policy.runId, begin.issueId, begin.life)];
  const { item: _, promptPath: __, ...common } = policy;
  const stored = new Map<string, object>([
    [runId, run],
    [lifeId, { ...world.life.state, ...patch }],
  ]);
  const found = await checkJournal({
    policy: common,
    options,
    journal: async (machine) => (machine === runId ? arrivals : world.events),
    state: async (machine) => JSON.parse(JSON.stringify(stored.get(machine) ?? null)),
  });
  return { ending: world.life.state.ending?.message, ...found };
}

test.each([
  ["rework", "Pushed"],
  ["merge_fix", "Pushed"],
  ["code_review", "Approved"],
] as const)("the history of a pull request's %s gives what is stored", async (source, ending) => {
  expect(await check(source)).toEqual({ ending, machines: 2, different: [] });
});

test("a stored life that its history does not give is named", async () => {
  expect((await check("rework", { turns: 99 })).different).toEqual(["issue:run-2:1:rework-7"]);
});
