import { expect, test } from "vitest";
import {
  type Explanation,
  explain,
  type IssueFacts,
  type LifeFacts,
  type RunFacts,
  renderExplanation,
} from "./explain.js";

const plain: IssueFacts = {
  issueId: "x",
  type: "task",
  status: "available",
  claimedBy: null,
  leaseUntil: null,
  failureCount: 0,
  failureReason: null,
  ancestors: [],
  deps: [],
  children: [],
  stoppedIn: null,
  life: null,
  runs: [],
  ahead: 0,
};
const run: RunFacts = {
  runId: "r1",
  driverAlive: true,
  scope: { type: "all" },
  resume: false,
  ending: false,
  full: false,
  hadIt: false,
  maxAgents: 2,
};
const life: LifeFacts = {
  runId: "r1",
  driverAlive: true,
  phase: "implementing",
  attempt: 1,
  maxAttempts: 3,
  waiting: null,
};
const noon = Date.parse("2026-01-01T12:00:00Z");

type Expected = Partial<Omit<Explanation, "issue_id">>;
type Case = readonly [name: string, facts: Partial<IssueFacts>, expected: Expected];

function check(facts: Partial<IssueFacts>, expected: Expected) {
  const all = { ...plain, ...facts };
  const calm = { running: false, blockers: [], ...expected };
  expect(explain(all)).toEqual({ issue_id: "x", state: all.status, ...calm });
}

const untold = { runId: "r1", ending: "completed", commit: "a".repeat(40) } as const;
const held = { status: "claimed", claimedBy: "r1", runs: [run] } as const;
const lives: readonly Case[] = [
  [
    "a run is at work on it",
    { ...held, life },
    { running: true, reason: "run r1 is at work on it: implementing, attempt 1/3", next: null },
  ],
  [
    "it has begun and has no attempt yet",
    { ...held, life: { ...life, phase: "preparing", attempt: 0, maxAttempts: 0 } },
    { running: true, reason: "run r1 is at work on it: preparing", next: null },
  ],
  [
    "its claim waits for the tracker",
    {
      ...held,
      life: { ...life, phase: "claiming", attempt: 0, waiting: { for: "the tracker's answer to bd update x" } },
    },
    { reason: "run r1 is claiming it, waiting: the tracker's answer to bd update x", next: "ratchet status" },
  ],
  [
    "its follow-up waits for a slot",
    { ...held, life: { ...life, attempt: 2, waiting: "slot" } },
    { reason: "claimed by run r1 (implementing, attempt 2/3), waiting for a slot", next: "ratchet status" },
  ],
  [
    "it cannot land before a person has acted",
    { ...held, life: { ...life, phase: "finalizing", attempt: 0, waiting: { for: "main was rewound: merge it" } } },
    {
      reason: "claimed by run r1 (finalizing), waiting: main was rewound: merge it",
      next: "ratchet status",
    },
  ],
  [
    "its workflow has asked a person",
    { ...held, life: { ...life, waiting: { for: "ok asks: Good?", next: "ratchet answer x/ok <yes|no>" } } },
    {
      reason: "claimed by run r1 (implementing, attempt 1/3), waiting: ok asks: Good?",
      next: "ratchet answer x/ok <yes|no>",
    },
  ],
  [
    "its run aborts while it lands",
    { ...held, life: { ...life, phase: "finalizing", attempt: 0, landing: true } },
    {
      running: true,
      reason: "run r1 is landing it (finalizing), which goes on although it was told to end",
      next: null,
    },
  ],
  [
    "it is being stopped",
    { ...held, life: { ...life, stopping: true } },
    { running: true, reason: "run r1 is still stopping it (implementing, attempt 1/3)", next: null },
  ],
  [
    "it waits for a time",
    { ...held, life: { ...life, waiting: { until: noon } } },
    {
      reason: "claimed by run r1 (implementing, attempt 1/3), waiting until 2026-01-01T12:00:00.000Z",
      next: "ratchet status",
    },
  ],
  [
    "the process that drove it is gone",
    { ...held, life: { ...life, driverAlive: false } },
    { reason: "the process of run r1, which has it (implementing, attempt 1/3), is gone", next: "ratchet run" },
  ],
  [
    "it has landed, and the process that was to tell the tracker is gone",
    { ...held, life: { ...life, phase: "finalizing", attempt: 0, driverAlive: false, landed: "a".repeat(40) } },
    {
      reason:
        "the process of run r1, which has it (finalizing, landed as aaaaaaaaaaaa, the tracker is not told yet), is gone",
      next: "ratchet run",
    },
  ],
];
test.each(lives)("of a life: %s", (_, facts, expected) => check(facts, expected));

const byHand = { status: "claimed", claimedBy: "ada", leaseUntil: noon } as const;
const claims: readonly Case[] = [
  [
    "a run that has landed it and could not tell the tracker",
    { ...held, runs: [], tracker: "github", untold },
    { reason: "it has landed as aaaaaaaaaaaa in run r1, which GitHub has not been told yet", next: "ratchet run" },
  ],
  [
    "a run that failed and could not tell the tracker",
    { ...held, runs: [], tracker: "bd", untold: { ...untold, ending: "failed", commit: null } },
    { reason: "it came out failed in run r1, which beads has not been told yet", next: "ratchet run" },
  ],
  ["a living run", held, { running: true, reason: "run r1 has just claimed it", next: null }],
  [
    "a run whose process is gone",
    { ...held, runs: [{ ...run, driverAlive: false }] },
    { reason: "the process of run r1, which has claimed it, is gone", next: "ratchet run" },
  ],
  [
    "a run that has ended",
    { ...held, runs: [] },
    { reason: "claimed by r1, which is not at work any more", next: "ratchet run x" },
  ],
  [
    "a person",
    byHand,
    { reason: "claimed by hand, by ada, until 2026-01-01T12:00:00.000Z", next: "ratchet work release x" },
  ],
  ["somebody unknown", { status: "claimed" }, { reason: "claimed by somebody in the tracker", next: null }],
];
test.each(claims)("of a claim by %s", (_, facts, expected) => check(facts, expected));

const two = [
  { id: "a", status: "claimed" },
  { id: "b", status: "failed" },
  { id: "c", status: "completed" },
] as const;
const stops: readonly Case[] = [
  [
    "open dependencies, with their states",
    { deps: two },
    { reason: "blocked by a (claimed), b (failed)", blockers: ["a", "b"], next: "ratchet explain a" },
  ],
  [
    "a dependency that is not there",
    { deps: [{ id: "a", status: null }] },
    { reason: "blocked by a (not on the board)", blockers: ["a"], next: "ratchet explain a" },
  ],
  [
    "an operator, with the reason",
    { status: "blocked", failureReason: "waits for the bank" },
    { reason: "blocked by an operator: waits for the bank", next: "ratchet work unblock x" },
  ],
  [
    "an operator, without one",
    { status: "blocked" },
    { reason: "blocked by an operator", next: "ratchet work unblock x" },
  ],
  [
    "an operator, of an epic",
    { type: "epic", status: "blocked", failureReason: "hold", children: [{ id: "c", status: "completed" }] },
    { reason: "blocked by an operator: hold", next: "ratchet work unblock x" },
  ],
  [
    "quarantine",
    { status: "quarantined", failureCount: 3, failureReason: "needs a key" },
    { reason: "quarantined after 3 failures: needs a key", next: "ratchet retry x" },
  ],
  [
    "an escalation",
    { status: "waiting_for_response", failureReason: "merge_conflict: three times" },
    { reason: "escalated, a person has to decide: merge_conflict: three times", next: "ratchet retry x" },
  ],
  [
    "a failure",
    { status: "failed", failureCount: 1, failureReason: "gate_failed: test failed" },
    { reason: "failed: gate_failed: test failed", next: "ratchet run --resume x" },
  ],
  [
    "failures, while a run without --resume lives",
    { status: "failed", failureCount: 2, failureReason: "no_progress", runs: [run] },
    {
      reason: "failed 2 times: no_progress; run r1 does not take it: it was started without --resume",
      next: "ratchet retry x",
    },
  ],
  [
    "a failure and an open dependency",
    { status: "failed", failureCount: 1, deps: two.slice(0, 1) },
    { reason: "failed; blocked by a (claimed)", blockers: ["a"], next: "ratchet explain a" },
  ],
  ["its completion", { status: "completed", deps: two }, { reason: "completed", next: null }],
];
test.each(stops)("it is stopped by %s", (_, facts, expected) => check(facts, expected));

const epic = { type: "epic" } as const;
const epics: readonly Case[] = [
  [
    "open issues",
    { ...epic, children: two },
    {
      reason: "it is an epic, which is never run itself; of its issues a (claimed), b (failed) are not completed",
      blockers: ["a", "b"],
      next: "ratchet run --resume --scope epic:x",
    },
  ],
  [
    "completed issues",
    { ...epic, children: two.slice(2) },
    { reason: "it is an epic whose issues are all completed", next: "ratchet run --scope epic:x" },
  ],
  ["its own completion", { ...epic, status: "completed" }, { reason: "completed", next: null }],
];
test.each(epics)("an epic with %s", (_, facts, expected) => check(facts, expected));

const refused = (why: string) => ({ reason: `ready; run r1 does not take it: ${why}`, next: "ratchet run x" });
const waits: readonly Case[] = [
  ["nothing runs", {}, { reason: "ready, but nothing runs", next: "ratchet run" }],
  [
    "a run's process is gone",
    { runs: [{ ...run, driverAlive: false }] },
    { reason: "ready, but the process of run r1 is gone", next: "ratchet run" },
  ],
  [
    "all slots are taken",
    { runs: [run], ahead: 3 },
    { reason: "ready, waiting for a slot in run r1 (2 agents at a time, 3 before it)", next: "ratchet status" },
  ],
  [
    "the run has begun too much that has not ended",
    { runs: [{ ...run, unfinishedMost: 64 }], ahead: 1 },
    {
      reason: "ready, waiting until one of the 64 issues that run r1 has begun has ended (1 before it)",
      next: "ratchet status",
    },
  ],
  [
    "a resuming run will take it though it failed",
    { status: "failed", failureCount: 1, runs: [{ ...run, resume: true, maxAgents: 1 }] },
    { reason: "ready, waiting for a slot in run r1 (1 agent at a time, it is next)", next: "ratchet status" },
  ],
  ["the run is ending", { runs: [{ ...run, ending: true }] }, refused("it is coming to its end")],
  [
    "the run has had it",
    { runs: [{ ...run, hadIt: true }] },
    { ...refused("it has had it already"), next: "ratchet retry x" },
  ],
  [
    "the run has had what it follows",
    { runs: [{ ...run, madeIt: true }] },
    refused("it is a follow-up of one that it has had"),
  ],
  [
    "it failed in another run since",
    { status: "failed", failureCount: 1, runs: [{ ...run, resume: true, endedIn: "r0" }] },
    {
      reason: "failed; run r1 does not take it: it failed in run r0 while that one lived",
      next: "ratchet retry x",
    },
  ],
  [
    "somebody stopped it under another run",
    { stoppedIn: "r0", runs: [{ ...run, stopped: true }] },
    {
      reason: "stopped in run r0; run r1 does not take it: it was stopped by its name while that run lived",
      next: "ratchet retry x",
    },
  ],
  [
    "the run ends before it is its turn",
    { ahead: 2, runs: [{ ...run, remaining: 1 }] },
    refused("it takes 1 more issue, and 2 come first"),
  ],
  [
    "what it depends on is not merged",
    { deps: two.slice(2), runs: [run], unmerged: [{ id: "c", branch: "ratchet/c" }] },
    { reason: "c is on ratchet/c and not merged yet", blockers: ["c"], next: "ratchet land c" },
  ],
  ["the run is full", { runs: [{ ...run, full: true }] }, refused("it has taken as many issues as it may")],
  [
    "the run is about others",
    { runs: [{ ...run, scope: { type: "ids", ids: ["y"] } }] },
    refused("it was started for other issues"),
  ],
  [
    "the run is about orphans",
    { ancestors: ["e"], runs: [{ ...run, scope: { type: "orphans" } }] },
    refused("it was started for other issues"),
  ],
  [
    "the run is about its epic's epic",
    { ancestors: ["e", "top"], runs: [{ ...run, scope: { type: "epic", epic: "top" } }] },
    { reason: "ready, waiting for a slot in run r1 (2 agents at a time, it is next)", next: "ratchet status" },
  ],
  [
    "the second of two runs takes it",
    {
      runs: [
        { ...run, hadIt: true },
        { ...run, runId: "r2" },
      ],
    },
    { reason: "ready, waiting for a slot in run r2 (2 agents at a time, it is next)", next: "ratchet status" },
  ],
  [
    "it was stopped in the middle",
    { stoppedIn: "r0" },
    { reason: "stopped in run r0, but nothing runs", next: "ratchet run --resume x" },
  ],
];
test.each(waits)("it waits because %s", (_, facts, expected) => check(facts, expected));

test("a long list of blockers is cut in the sentence and whole in the list", () => {
  const deps = Array.from({ length: 12 }, (_, index) => ({ id: `d${index}`, status: "available" as const }));
  const told = explain({ ...plain, deps });
  expect(told.reason).toMatch(/d9 \(available\), 2 more$/);
  expect(told.blockers).toHaveLength(12);
});

test("people get a sentence and what to run", () => {
  expect(renderExplanation(explain(plain))).toEqual(["x is not running: ready, but nothing runs", "next: ratchet run"]);
  const working = explain({ ...plain, ...held, life });
  expect(renderExplanation(working)).toEqual(["x is running: run r1 is at work on it: implementing, attempt 1/3"]);
});

test.each([
  [null, "waits for pull request #7 (u)", "ratchet pr sync 7"],
  ["no cycles left", "needs a person: no cycles left (pull request #7, u)", "ratchet retry x"],
])("in a pull request, with %j for a person, it says %j", (needsPerson, reason, next) => {
  const pullRequest = { number: 7, url: "u", issueId: "x", needsPerson };
  check({ status: "waiting_for_response", pullRequest }, { reason, next });
});

test("in a pull request it says what that waits for, and the command that helps", () => {
  const wait = { reason: "its rework r failed", next: "ratchet run --resume r" };
  const pullRequest = { number: 7, url: "u", issueId: "x", needsPerson: null, wait };
  const reason = "waits for pull request #7 (u): its rework r failed";
  check({ status: "waiting_for_response", pullRequest }, { reason, next: wait.next });
});

test("what an issue of another tracker needs is done there", () => {
  const next = (facts: Partial<IssueFacts>) => explain({ ...plain, ...facts }).next;
  const retry = "bd update x --remove-label=needs-followup --remove-label=human-review";
  expect(next({ tracker: "bd", status: "waiting_for_response" })).toBe(retry);
  expect(next({ tracker: "bd", status: "blocked" })).toBe("bd update x --status=open");
  expect(next({ tracker: "bd", status: "claimed", stoppedIn: "r0" })).toBe("ratchet run --resume x");
});

test("what a foreign tracker knows besides comes before what the issue says; a claim of another machine is said", () => {
  const obstacle = { reason: "it is assigned to jo", next: "take the assignment off 7" };
  const tracker = { tracker: "github" } as const;
  check({ ...tracker, standing: { claim: null, obstacle }, deps: [{ id: "a", status: "available" }] }, obstacle);
  check({ ...tracker, status: "claimed", standing: { claim: null, obstacle } }, obstacle);
  const claimed = (isOver: boolean): Partial<IssueFacts> => ({
    ...tracker,
    ...{ status: "claimed", claimedBy: "r9", standing: { claim: { holder: "r9", isOver }, obstacle: null } },
  });
  check(claimed(false), { reason: "claimed by r9, which is none of this machine's", next: null });
  check(claimed(true), { reason: "claimed by r9, which is not at work any more", next: "ratchet run --resume x" });
  const pullRequest = { number: 2, url: "u", issueId: "x", needsPerson: null };
  check({ ...claimed(false), pullRequest }, { reason: "waits for pull request #2 (u)", next: "ratchet pr sync 2" });
});
