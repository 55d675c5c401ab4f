import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyLedger, openFindings } from "../ledger/ledger.js";
import { panelOf, review, type Setup } from "./fixture.js";
import { type RandomWorld, worldsOf } from "./random-world.js";
import { triggerResult } from "./session-end-result.js";

const setups: fc.Arbitrary<Setup> = fc
  .record({ panel: fc.boolean(), finding_threshold: fc.constantFrom("P0", "P1", "P3", "none") })
  .map(({ panel, finding_threshold }) => ({
    verifies: true,
    review: { ...review, finding_threshold, ...(panel ? panelOf("one", "two") : {}) },
  }));
const begin = { start: { issueId: "", title: "epic_verification", life: 1, resume: null }, ledger: emptyLedger("e") };
const worlds = worldsOf(setups, () => begin, 300);
const runs = { numRuns: 400 };
const asked = (world: RandomWorld) => world.history.flatMap((effect) => (effect.kind === "tracker" ? [effect.op] : []));
const told = (world: RandomWorld, op: string) =>
  world.events.find((event) => event.type === "tracker-done" && event.key === `tracker:${op}`);

describe("whatever happens to the verification of an epic", () => {
  it("its life ends with nothing owed, and an epic that it had is completed or let go", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { state } = world.live();
        expect([state.phase, world.owed.size]).toEqual(["done", 0]);
        expect(world.reports.filter((report) => "issue_id" in report)).toEqual([]);
        const claim = told(world, "claim");
        if (claim?.type === "tracker-done" && claim.ok) {
          const completed = told(world, "complete");
          const done = completed?.type === "tracker-done" && completed.ok;
          expect(done || asked(world).includes("release")).toBe(true);
        }
        expect(world.history.some((effect) => effect.kind === "turn" && effect.role !== "reviewer")).toBe(false);
      }),
      runs,
    );
  });

  it("it passes only on a pass of every reviewer that the tracker took; findings are followed up before it is let go", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { state, ledger } = world.live();
        const { result, followUp, reason } = triggerResult(world.policy, state);
        const ends = world.reports.flatMap((one) => (one.type === "review-ended" ? [one] : []));
        const last = new Map(ends.map((one) => [one.reviewer, one.verdict]));
        const slots = world.policy.settings.per_issue_review.panel.length || 1;
        if (asked(world).includes("complete")) {
          expect([...last.values()]).toEqual(Array(slots).fill("pass"));
          expect(openFindings(ledger, { sources: ["review"] })).toEqual([]);
        }
        expect(result === "pass").toBe(reason === null);
        if (result === "pass") expect(told(world, "complete")).toMatchObject({ ok: true });
        if (followUp !== undefined) expect(asked(world).slice(-2)).toEqual(["follow-up", "release"]);
      }),
      runs,
    );
  });

  it("folding its events gives its row again, through JSON and within 8 kB", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        world.live();
        expect(world.folded()).toEqual(JSON.parse(JSON.stringify(world.life)));
      }),
      { numRuns: 100 },
    );
  });
});
