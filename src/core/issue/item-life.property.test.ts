import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyLedger } from "../ledger/ledger.js";
import { type Setup, start } from "./fixture.js";
import { gatedTrees, RandomWorld, worldsOf } from "./random-world.js";

const sources = fc.constantFrom("implement", "rework", "merge_fix", "code_review");
const setups: fc.Arbitrary<Setup> = fc
  .record({ source: sources, session: fc.option(fc.constant("s-1")), reviewed: fc.boolean() })
  .map(({ source, session, reviewed }) => {
    const item = source === "implement" ? null : { source, issueId: "p-1", prNumber: 7, cycle: 1, session };
    return {
      ...(item ? { item } : {}),
      // A review item has reviewers, whatever an issue's own life has.
      ...(reviewed || source === "code_review" ? { review: {} } : {}),
      settings: { finalize: { mode: "pr", into: null } },
    } satisfies Setup;
  });
const begin = ({ item }: Setup) => ({ start: { ...start, ...(item ? { item } : {}) }, ledger: emptyLedger("p-1") });
const worlds = worldsOf(setups, begin, 500);
const pushesOf = (world: RandomWorld) => world.history.flatMap((one) => (one.kind === "push" ? [one] : []));

describe("whatever happens to work that goes into a pull request", () => {
  it("nothing is pushed whose very commit has not passed the gate, and by a review nothing at all", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        let seen = 0;
        world.live(() => {
          const pushes = pushesOf(world);
          for (const { head } of pushes.slice(seen)) expect(gatedTrees(world)).toContain(RandomWorld.treeOf(head));
          seen = pushes.length;
        });
        if (world.policy.item?.source === "code_review") expect(pushesOf(world)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("it ends with nothing owed, as a success only when it was pushed or judged, and never lands by itself", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        world.live();
        const { state } = world.life;
        expect([state.phase, world.owed.size]).toEqual(["done", 0]);
        expect(world.history.filter(({ kind }) => kind === "land")).toEqual([]);
        const finished = world.finished();
        if (finished?.status !== "success" || finished.resolution !== null) return;
        if (world.policy.item?.source === "code_review") return;
        const pushed = world.events.findLast((event) => event.type === "push-ended");
        expect(pushed).toMatchObject({ outcome: { type: "pushed" } });
        expect(finished.commit).toBe(pushesOf(world).at(-1)?.head);
        if (!world.policy.item) expect(state.pullRequest).toEqual({ number: 7, url: "u" });
      }),
      { numRuns: 300 },
    );
  });

  it("folding its events gives its row again, through JSON", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        world.live();
        expect(world.folded()).toEqual(JSON.parse(JSON.stringify(world.life)));
      }),
      { numRuns: 100 },
    );
  });
});
