import fc from "fast-check";
import { expect, it } from "vitest";
import { emptyLedger } from "../ledger/ledger.js";
import { panelOf, policyOf, review, type Setup, start } from "./fixture.js";
import { begunTooEarly, worldsOf } from "./random-world.js";

const failureMode = fc.constantFrom("continue", "abort", "remediate");
const checks = fc.record({ failure_mode: failureMode, max_retries: fc.nat(2) });
const setup = { command: "npm ci", timeout: 900, allow_fail: false, exclusive: false };
const { commands } = policyOf().settings;
const setups: fc.Arbitrary<Setup> = fc
  .record({ own: checks, rounds: checks, isTrigger: fc.boolean(), isPanel: fc.boolean() })
  .map(({ own, rounds, isTrigger, isPanel }) => {
    const code_review = { ...review, ...own };
    return {
      review: { ...rounds, ...(isPanel ? panelOf("security", "style") : {}) },
      ...(isTrigger ? { runEnd: { ...own, code_review } } : { sessionEnd: { ...own, code_review } }),
      settings: { commands: { ...commands, setup } },
    };
  });
const worlds = worldsOf(
  setups,
  ({ runEnd }) => ({
    start: runEnd ? { issueId: "", title: "run_end", life: 1, resume: null } : start,
    ledger: emptyLedger(runEnd ? "run-2" : "p-1"),
  }),
  500,
);

it("nobody works or judges in a worktree before setup has passed there, whenever it was made, and the life ends", () => {
  fc.assert(
    fc.property(worlds, (world) => {
      expect(begunTooEarly(world)).toEqual([]);
      expect([world.life.state.phase, world.owed.size]).toEqual(["done", 0]);
      expect(world.folded()).toEqual(JSON.parse(JSON.stringify(world.life)));
    }),
    { numRuns: 800 },
  );
});
