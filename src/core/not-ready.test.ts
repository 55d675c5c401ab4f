import { expect, test } from "vitest";
import { isCaredFor, type Named, whyNotReady } from "./not-ready.js";
import type { Issue } from "./ports/tracker.js";

const blank = { title: "", body: "", type: "task", parent: null, deps: [], priority: 2 } as const;
function named(issue: Partial<Issue>, known: Partial<Omit<Named, "issue">> = {}): Named {
  return { issue: { ...blank, id: "one", status: "available", ...issue }, item: null, standing: null, ...known };
}
const claimed = { status: "claimed" } as const;
const byRun = { item: { claimedBy: "r1", leaseUntil: null, failureReason: null } };
const byPerson = { item: { claimedBy: "ada", leaseUntil: 5, failureReason: null } };
const theirs = {
  standing: { claim: { holder: "r1", isOver: false }, obstacle: { reason: "it is Ada's", next: "ask" } },
};
const running = { standing: { claim: { holder: "r1", isOver: false }, obstacle: null } };

test.each([
  ["free", named({}), {}, null],
  ["an epic", named({ type: "epic", ...claimed }, byRun), {}, "it is an epic"],
  ["done", named({ status: "completed" }), {}, "completed"],
  ["failed", named({ status: "failed" }), {}, "failed"],
  ["failed, in a resume", named({ status: "failed" }), { resume: true }, null],
  ["blocked", named({ status: "blocked" }), { resume: true }, "blocked"],
  [
    "blocked with a reason",
    named({ status: "blocked" }, { item: { ...byPerson.item, failureReason: "later" } }),
    {},
    "blocked (later)",
  ],
  ["a run's", named(claimed, byRun), {}, "claimed by run r1"],
  ["that of a run which is continued first", named(claimed, byRun), { left: ["r1"] }, null],
  ["a person's", named(claimed, byPerson), { resume: true }, "claimed by ada"],
  ["a person's elsewhere", named(claimed, theirs), { resume: true }, "it is Ada's"],
  ["another run's elsewhere", named(claimed, running), {}, "in progress"],
  ["another run's elsewhere, in a resume", named(claimed, running), { resume: true }, null],
  ["one with an obstacle that is continued first", named(claimed, theirs), { left: ["r1"] }, null],
  ["waiting", named({}), { missing: ["a", "b"], isStopped: true }, "blocked by a, b"],
  [
    "waiting for a merge",
    named({}),
    { unmerged: [{ id: "a", branch: "ratchet/a" }] },
    "a is on ratchet/a and not merged yet",
  ],
  ["untouched", named({}), { isUntouched: true }, "nobody has worked on it yet"],
  ["stopped", named({}), { isStopped: true }, "it was stopped"],
])("why a named issue does not run that is %s", (_what, one, asked, reason) => {
  expect(whyNotReady(one, { resume: false, ...asked })?.reason ?? null).toBe(reason);
});

test.each([
  [named({}), false],
  [named({ status: "completed" }), true],
  [named(claimed, byRun), true],
  [named(claimed, byPerson), false],
  [named(claimed, running), true],
  [named(claimed, theirs), false],
])("%j is cared for: %s", (one, expected) => {
  expect(isCaredFor(one)).toBe(expected);
});
