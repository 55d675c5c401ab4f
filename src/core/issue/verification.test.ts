import { expect, it } from "vitest";
import { emptyLedger } from "../ledger/ledger.js";
import { failWith, noVerdict, policyOf, type Rules, remark, review, World } from "./fixture.js";

/** One verification after the other on one ledger, each by its reviewer's answer. */
function verify(...answers: readonly ReturnType<NonNullable<Rules["review"]>>[]): World[] {
  const begin = { issueId: "", title: "epic_verification", life: 1, resume: null };
  const worlds: World[] = [];
  for (const answer of answers) {
    const world = new World(
      policyOf({ verifies: true, review }),
      begin,
      worlds.at(-1)?.life.ledger ?? emptyLedger("e"),
    );
    world.at = (worlds.at(-1)?.at ?? world.at) + 1000;
    worlds.push(world.play({ review: () => answer }));
  }
  return worlds;
}

it("what an epic's verification found stays open until the next verdict, without being closed and opened again", () => {
  const lacking = failWith(remark("A criterion is not met", 1));
  const worlds = verify(lacking, noVerdict, lacking, {});
  const statuses = worlds.map((world) => world.life.ledger.findings.find(({ source }) => source === "review")?.status);
  expect(statuses).toEqual(["open", "open", "open", "resolved"]);
  expect(worlds.map((world) => world.reported("finding-resolved").length)).toEqual([0, 0, 1, 1]);
  expect(worlds.map((world) => world.history.filter(({ key }) => key === "tracker:follow-up").length)).toEqual([
    1, 0, 1, 0,
  ]);
});
