import { expect, it } from "vitest";
import type { ItemStatus } from "../core/ports/tracker.js";
import { causeOfEpic, type EpicFacts } from "./explain-epic.js";

const nothing: EpicFacts = { verifier: null, inVain: 0, openFindings: 0, looker: null };
const done = [{ id: "a", status: "completed" }] as const;
const verifier = { runId: "r1", driverAlive: true, isAtIt: true };
const all = "it is an epic whose issues are all completed";
const run = "ratchet run --scope epic:e";

it.each<[string, Partial<EpicFacts>, ReturnType<typeof causeOfEpic>]>([
  ["nothing runs", {}, { reason: all, next: run }],
  ["a run verifies it", { verifier }, { running: true, reason: "run r1 verifies it now", next: null }],
  [
    "a run has something to do before it verifies it",
    { verifier: { ...verifier, isAtIt: false } },
    { reason: "run r1 verifies it when its triggers before that are over", next: "ratchet status" },
  ],
  [
    "the run that verified it was killed",
    { verifier: { ...verifier, driverAlive: false } },
    { reason: "the process of run r1, which was verifying it, is gone", next: "ratchet run" },
  ],
  [
    "it did not pass",
    { inVain: 3, openFindings: 2 },
    {
      reason: `${all}; it was verified 3 times in vain; 2 findings of its verification open; the next run verifies it again`,
      next: "ratchet findings e",
    },
  ],
  [
    "what it found is waived",
    { inVain: 4, waived: 1 },
    {
      reason: `${all}; it was verified 4 times in vain; 1 finding of its verification waived`,
      next: "ratchet work complete e",
    },
  ],
  [
    "nobody could judge it",
    { inVain: 1 },
    { reason: `${all}; it was verified 1 time in vain; the next run verifies it again`, next: run },
  ],
  [
    "a living run has not come to it",
    { looker: "r2" },
    { reason: `${all}; run r2 sees to it when it has nothing else to start`, next: "ratchet status" },
  ],
])("an epic that is due says how it stands: %s", (_, facts, cause) => {
  expect(causeOfEpic({ issueId: "e", children: done }, { ...nothing, ...facts })).toEqual(cause);
});

it("an epic whose work is on branches says which, whoever looks for it", () => {
  const unmerged = [
    { id: "a", branch: "ratchet/a" },
    { id: "b", branch: "ratchet/b" },
  ];
  expect(causeOfEpic({ issueId: "e", children: done, unmerged }, { ...nothing, looker: "r2" })).toEqual({
    reason: `${all}; a is on ratchet/a and not merged yet, b is on ratchet/b and not merged yet`,
    blockers: ["a", "b"],
    next: "ratchet land a",
  });
});

it.each<[readonly ItemStatus[], string]>([
  [["available"], run],
  [["failed"], "ratchet run --resume --scope epic:e"],
  [["failed", "available"], "ratchet run --resume --scope epic:e"],
  // It may be in a pull request, where a retry is refused: explain knows.
  [["waiting_for_response"], "ratchet explain c0"],
  [["quarantined", "waiting_for_response"], "ratchet retry c0"],
  [["blocked"], "ratchet explain c0"],
  [["quarantined", "available"], run],
])("an epic whose open issues are %j says what helps", (statuses, next) => {
  const children = statuses.map((status, at) => ({ id: `c${at}`, status }));
  expect(causeOfEpic({ issueId: "e", children }, nothing).next).toBe(next);
});

it("an epic that depends on something says so, whether its issues are open or not", () => {
  const deps = [
    { id: "d", status: "blocked" },
    { id: "done", status: "completed" },
  ] as const;
  expect(causeOfEpic({ issueId: "e", children: done, deps }, nothing)).toEqual({
    reason: `${all}; it waits for d (blocked)`,
    blockers: ["d"],
    next: "ratchet explain d",
  });
  expect(causeOfEpic({ issueId: "e", children: [{ id: "c", status: "available" }], deps }, nothing)).toMatchObject({
    reason: expect.stringMatching(/of its issues c \(available\) is not completed; it waits for d \(blocked\)$/),
    blockers: ["c", "d"],
    next: run,
  });
});

it("an epic in it that has no open issue of its own is explained by itself", () => {
  const inner = { id: "u", status: "available", isEpic: true } as const;
  expect(causeOfEpic({ issueId: "e", children: [inner] }, nothing).next).toBe("ratchet explain u");
  expect(causeOfEpic({ issueId: "e", children: [inner, { id: "c", status: "available" }] }, nothing).next).toBe(run);
});

it("an epic without issues says how it gets one, and what calls it done", () => {
  const empty = { issueId: "e", children: [] };
  const reason = "it is an epic, which is never run itself, and it has no issues";
  expect(causeOfEpic(empty, nothing)).toEqual({
    reason: `${reason}; ratchet work add --parent e gives it one`,
    next: "ratchet work complete e",
  });
  expect(causeOfEpic({ ...empty, tracker: "bd" }, nothing)).toEqual({ reason, next: "bd close e" });
});
