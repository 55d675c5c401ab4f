import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { numbersOf } from "../issue/random-world.js";
import { openFindings } from "../ledger/ledger.js";
import { RandomPrWorld } from "./random-world.js";

const worlds = fc
  .record({
    seed: fc.integer(),
    length: fc.nat(800),
    max: fc.constantFrom(1, 2, 50),
    merge: fc.constantFrom("none", "squash"),
  })
  .map(({ seed, length, max, merge }) => {
    const world = new RandomPrWorld({ merge }, numbersOf(seed, length));
    world.limit = { max, from: "project", ignored: null };
    return world;
  });

/** Through its troubles to the end, or until nothing is to be done. */
function live(world: RandomPrWorld): void {
  while (world.step()) {
    const { owed } = world.life.state;
    for (const { key } of owed) if (!world.owed.has(key)) throw new Error(`${key} is in the state and not owed`);
  }
  world.calmDown();
}

describe("whatever happens to a pull request", () => {
  test("P12 every trusted remark is delivered once and answered once, and none of a stranger that nobody let through", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        live(world);
        const { deliveries, phase } = world.life.state;
        for (const [id] of world.meant) {
          const status = deliveries[id]?.status;
          if (phase === "following") expect([id, status]).toEqual([id, "answered"]);
          if (status === "answered") expect([id, world.cyclesOf(id).length]).toEqual([id, 1]);
        }
        for (const { id, login } of world.remarks) {
          if (login === "eve" && !world.admitted.has(id)) expect([id, world.cyclesOf(id)]).toEqual([id, []]);
        }
        for (const words of phase === "following" ? world.asked : []) {
          const statuses = Object.values(deliveries).flatMap((one) => (one.words === words ? [one.status] : []));
          expect([words, ...statuses]).toEqual([words, "answered"]);
        }
        expect(new Set(world.replies).size).toBe(world.replies.length);
        expect(new Set(world.summaries).size).toBe(world.summaries.length);
        for (const { id, thread } of world.remarks) {
          const [cycle] = world.cyclesOf(id);
          if (thread !== null && deliveries[id]?.status === "answered")
            expect(world.replies).toContain(`${thread}:${cycle}`);
        }
        if (phase === "following") expect(openFindings(world.life.ledger, { sources: ["pr-comment"] })).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test("P2 P9 a cycle is made once, no key is owed twice, and one that has ended owes nothing and stays as it is", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        live(world);
        if (world.life.state.phase === "following") return;
        expect([...world.owed.keys()]).toEqual([]);
        expect(world.life.state.undone).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
