import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyLedger } from "../ledger/ledger.js";
import { review, type Setup } from "./fixture.js";
import { type IssueLife, issueMachine } from "./machine.js";
import { numbersOf, openFixers, RandomWorld } from "./random-world.js";
import { triggerResult } from "./session-end-result.js";

const failureMode = fc.constantFrom("continue", "abort", "remediate");
const setups: fc.Arbitrary<Setup> = fc
  .record({
    failure_mode: failureMode,
    max_retries: fc.nat(2),
    own: fc.option(fc.record({ failure_mode: failureMode, max_retries: fc.nat(2), track_review_issues: fc.boolean() })),
    mode: fc.constantFrom("merge", "branch"),
  })
  .map(({ failure_mode, max_retries, own, mode }) => ({
    runEnd: { failure_mode, max_retries, code_review: own && { ...review, ...own } },
    settings: { finalize: { mode, into: null } },
  }));
const begin = { start: { issueId: "", title: "run_end", life: 1, resume: null }, ledger: emptyLedger("run-2") };
const worlds = fc
  .tuple(setups, fc.integer(), fc.nat(500), fc.constantFrom(0, 20, 100))
  .map(([setup, seed, length, trouble]) => {
    return new RandomWorld(setup, begin, { choices: numbersOf(seed, length), trouble });
  });

function live(world: RandomWorld): RandomWorld {
  world.arrive({ type: "started" });
  for (let steps = 0; world.step(); steps += 1) if (steps > 3000) throw new Error("the life does not end");
  return world;
}
const runs = { numRuns: 400 };

describe("whatever happens to a trigger of the run", () => {
  it("its life ends, with nothing owed; no issue is spoken of, and the tracker hears of follow-ups alone", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { state } = live(world).life;
        expect([state.phase, world.owed.size]).toEqual(["done", 0]);
        expect(state.ending).not.toBeNull();
        expect(world.reports.filter((report) => "issue_id" in report)).toEqual([]);
        const asked = world.history.flatMap((effect) => (effect.kind === "tracker" ? [effect.op] : []));
        expect(asked.filter((op) => op !== "follow-up")).toEqual([]);
        expect(world.history.some((effect) => effect.kind === "turn" && effect.role === "implementer")).toBe(false);
      }),
      runs,
    );
  });

  it("every fixer that started has ended once", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        expect(openFixers(live(world))).toEqual([]);
      }),
      runs,
    );
  });

  it("it passes only when every command did, no review blocks, and what its fixers committed has landed", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { state } = live(world).life;
        const { result, commands, code_review_result, reason } = triggerResult(world.policy, state);
        if (result === "fail") {
          expect(reason).not.toBeNull();
          return;
        }
        expect(commands.map(({ passed }) => passed)).toEqual([true, true, true]);
        expect(code_review_result?.passed ?? true).toBe(true);
        if (state.work && state.work.commits > 0) expect(state.ending?.commit).not.toBeNull();
      }),
      runs,
    );
  });

  it("folding its events gives its row again, through JSON and within 8 kB", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        live(world);
        const transition = issueMachine(world.policy);
        const first = JSON.parse(world.first) as IssueLife;
        const folded = world.events.reduce((life, event) => {
          const { state } = transition(life, event);
          if (JSON.stringify(state.state).length > 8192) throw new Error("the state is too large");
          return JSON.parse(JSON.stringify(state)) as IssueLife;
        }, first);
        expect(folded).toEqual(JSON.parse(JSON.stringify(world.life)));
      }),
      { numRuns: 100 },
    );
  });
});
