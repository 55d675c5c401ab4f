import { describe, expect, it } from "vitest";
import type { IssueSignal } from "./events.js";
import { failWith, policyOf, type Rules, remark, review, World } from "./fixture.js";
import { triggerResult } from "./session-end-result.js";
import { reviewedUpTo } from "./unlanded.js";

const remediate = { failure_mode: "remediate", max_retries: 2 } as const;

/** run_end at c0 with nothing but its review, which finds the same each time. */
function runEnd(rules: Rules): World {
  const policy = policyOf({ runEnd: { commands: [], code_review: { ...review, ...remediate } } });
  const world = new World(policy, { issueId: "", title: "run_end", life: 1, resume: null });
  const found: Rules = { review: () => failWith(remark("Defect", 1)), worktree: { reviewBase: "earlier" } };
  return world.play({ ...found, ...rules });
}
const reviewOf = ({ policy, life }: World) => triggerResult(policy, life.state).code_review_result;
const idsOf = ({ life }: World) => life.ledger.findings.map(({ id }) => id);

/** Sends it once, while the fixer works. */
function inFixer(name: "drain" | "stop" | "abort", fix: Rules["fix"] = () => null): Rules {
  let sent = false;
  const before = (world: World): IssueSignal | null => {
    if (sent || world.life.state.turn?.role !== "fixer") return null;
    sent = true;
    return { name };
  };
  return { fix, before };
}
/** The reviewer of that round gives no answer, so that its time runs out. */
const muteIn = (round: number): Rules => ({
  review: (_effect, n) => (n === round ? null : failWith(remark("Defect", 1))),
});

describe("the review of a trigger that was cut short", () => {
  it.each([
    ["Ctrl-C in the fixer of round 1", inFixer("drain", () => ({}))],
    ["a stop in the fixer of round 1", inFixer("stop")],
    ["an abort in the fixer of round 1", inFixer("abort")],
    ["the timeout in round 2", muteIn(2)],
  ])("has run and not passed, with what its last round found: %s", (_, rules) => {
    const world = runEnd(rules);
    expect(reviewOf(world)).toEqual({ ran: true, passed: false, findings: idsOf(world) });
    expect(idsOf(world)).toHaveLength(1);
    // Nobody has looked at what the fixer made.
    expect(reviewedUpTo(world.life.state, "since_last_review")).toBe("earlier");
  });

  it("has not run when no round has ended", () => {
    expect(reviewOf(runEnd(muteIn(1)))).toEqual({ ran: false, passed: false, findings: [] });
  });
});
