import { expect, test } from "vitest";
import { explainUnasked, type UnaskedFacts } from "./explain-unasked.js";

const life = { runId: "r2", driverAlive: true, phase: "gating", attempt: 1, maxAttempts: 3, waiting: null };

function explained(facts: Partial<UnaskedFacts>) {
  return explainUnasked({ issueId: "a", life: null, last: null, untold: [], tracker: "bd", ...facts });
}

function last(status: "interrupted" | "failed" | "escalated" | "success", message = "why") {
  return { runId: "r1", record: { status, message } };
}

test.each<[Partial<UnaskedFacts>, string, string, string | null]>([
  [
    { last: last("interrupted"), untold: ["release"] },
    "available",
    "interrupted in run r1: why; beads has not been told yet that it is free",
    "ratchet run --resume a",
  ],
  [{ last: last("failed", "") }, "failed", "failed in run r1", "ratchet run --resume a"],
  [
    { last: last("success"), untold: ["complete"], tracker: "github" },
    "completed",
    "success in run r1: why; GitHub has not been told yet that it is done",
    "ratchet run",
  ],
  [{ last: last("success") }, "completed", "success in run r1: why", null],
  [
    { last: last("escalated") },
    "waiting_for_response",
    "escalated in run r1: why",
    "bd update a --remove-label=needs-followup --remove-label=human-review",
  ],
  [{ last: last("failed"), life }, "claimed", "run r2 is at work on it: gating, attempt 1/3", null],
])("of %j is known that it is %s: %s", (facts, state, reason, next) => {
  const running = facts.life != null;
  expect(explained(facts)).toEqual({ issue_id: "a", state, running, reason, blockers: [], next });
});

test("of an issue that has had no life here nothing is known", () => {
  expect(explained({ untold: ["release"] })).toBeNull();
});
