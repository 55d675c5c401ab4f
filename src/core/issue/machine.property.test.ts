import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Finding } from "../finding.js";
import { emptyLedger, isBlocking, raise } from "../ledger/ledger.js";
import { isSettledOpinion } from "../ledger/reports.js";
import { project } from "../project.js";
import type { IssueEvent } from "./events.js";
import { panelOf, policyOf, remark, type Setup, start } from "./fixture.js";
import { type IssueLife, issueMachine, newIssue } from "./machine.js";
import { gatedTrees, numbersOf, openFixers, RandomWorld, unheardFailures, unheardPasses } from "./random-world.js";

const failureMode = fc.constantFrom("continue", "abort", "remediate");
const reviewSetup = fc.record({
  max_retries: fc.nat(3),
  failure_mode: failureMode,
  finding_threshold: fc.constantFrom("none", "P0", "P2"),
  track_review_issues: fc.boolean(),
});
const setups: fc.Arbitrary<Setup> = fc
  .record({
    review: fc.option(reviewSetup, { nil: undefined }),
    panel: fc.boolean(),
    sessionEnd: fc.option(fc.record({ failure_mode: failureMode, max_retries: fc.nat(2) }), { nil: null }),
    mode: fc.constantFrom("merge", "merge", "branch"),
    options: fc.record({ strict: fc.boolean(), fresh: fc.boolean() }),
    ownReview: fc.boolean(),
    tokens: fc.option(fc.integer({ min: 1, max: 100 })),
    check: fc.constantFrom(false, false, false, true),
  })
  .map(({ review, panel, sessionEnd, mode, options, ownReview, tokens, check }) => {
    const chosen = review && { ...review, ...(panel ? panelOf("security", "style") : {}) };
    const policy = policyOf({ review: {} });
    const code_review = ownReview ? policy.settings.per_issue_review : null;
    return {
      ...(chosen ? { review: chosen } : {}),
      sessionEnd: sessionEnd && { ...sessionEnd, code_review },
      settings: {
        finalize: { mode, into: null },
        budgets: { ...policy.settings.budgets, issue: { usd: null, tokens, minutes: null } },
      },
      options: check ? { ...options, only: "check" as const } : options,
    } satisfies Setup;
  });
/** What the last review and landing of an earlier life left. */
function leftBefore() {
  const visit = {
    stage: "per_issue_review",
    source: "review",
    reviewer: "command",
    outcome: "fail",
    visit: 3,
  } as const;
  const remarks = [remark("Old defect", 1), remark("Old name", 3, "b.ts")];
  const old = { at: 1, commit: "c9", runId: "run-1", remarks };
  const merge = { ...visit, stage: "merge", source: "merge", reviewer: "merge" } as const;
  const conflict = [remark("Conflict with main", 1, "")];
  const unmerged = raise(emptyLedger("p-1"), { ...merge, ...old, remarks: conflict }).ledger;
  const { ledger } = raise(unmerged, { ...visit, ...old });
  const blocking = ledger.findings.filter(({ title }) => title === "Old defect").map((finding) => finding.id);
  return { ledger, blocking, seen: { tree: "t12", filesTree: "t12", reviewed: "t12" } };
}
/** An issue taken up for the first time, or again, resumed or not. */
const begins = fc.constantFrom(
  () => ({ start, ledger: emptyLedger("p-1") }),
  () => {
    const { ledger, ...left } = leftBefore();
    const resume = { runId: "run-1", sessionId: "old", baseSha: "c0", ...left };
    return { start: { ...start, life: 2, resume }, ledger };
  },
  () => {
    const { ledger, ...left } = leftBefore();
    return { start: { ...start, life: 2, ...left }, ledger };
  },
);
const worlds = fc
  .tuple(setups, begins, fc.integer(), fc.nat(900), fc.constantFrom(0, 20, 100))
  .map(([setup, begin, seed, length, trouble]) => {
    return new RandomWorld(setup, begin(), { choices: numbersOf(seed, length), trouble });
  });
/** Where fixers are sent, by the review and by session_end. */
const fixing = fc.tuple(begins, fc.integer(), fc.nat(900)).map(([begin, seed, length]) => {
  const remediate = { failure_mode: "remediate", max_retries: 2 } as const;
  const setup = { review: { ...remediate, max_retries: 1 }, sessionEnd: remediate };
  return new RandomWorld(setup, begin(), { choices: numbersOf(seed, length), trouble: 100 });
});

const runs = { numRuns: 400 };
const slow = 120_000;

describe("whatever happens to an issue", () => {
  it(
    "its life ends, with nothing owed, no key owed twice, and exactly one wait until then",
    () => {
      fc.assert(
        fc.property(worlds, (world) => {
          world.live(() => {
            const { owed, phase } = world.life.state;
            const waits = owed.filter(({ kind }) => kind === "wait").length;
            const same = owed.length === world.owed.size && owed.every(({ key }) => world.owed.has(key));
            if (!same)
              throw new Error(`the state says ${owed.map(({ key }) => key)}, owed is ${[...world.owed.keys()]}`);
            if (waits !== (phase === "done" ? 0 : 1)) throw new Error(`${waits} waits are owed while ${phase}`);
          });
          expect(world.life.state.phase).toBe("done");
          expect(world.owed.size).toBe(0);
          const finished = world.reported("issue-finished");
          expect(finished).toHaveLength(world.life.state.ending?.status === "not-claimed" ? 0 : 1);
        }),
        runs,
      );
    },
    slow,
  );

  it(
    "every fixer that started has ended once, before its session_end and the issue do",
    () => {
      fc.assert(
        fc.property(fixing, (world) => {
          world.live();
          expect(openFixers(world)).toEqual([]);
        }),
        runs,
      );
    },
    slow,
  );

  it(
    "a check that ended by itself and failed is a finding, whatever ends the life",
    () => {
      fc.assert(
        fc.property(worlds, (world) => {
          expect(unheardFailures(world)).toEqual([]);
        }),
        runs,
      );
    },
    slow,
  );

  it(
    "a command of session_end that ended by itself and passed has closed what it had found before, whatever ends the life",
    () => {
      fc.assert(
        fc.property(fixing, (world) => {
          expect(unheardPasses(world)).toEqual([]);
        }),
        runs,
      );
    },
    slow,
  );

  it(
    "succeeds only with a passed gate of the landed tree and, where due, a passed review of the landed commit",
    () => {
      fc.assert(
        fc.property(worlds, (world) => {
          world.live();
          const finished = world.finished();
          if (finished?.status !== "success") return;
          if (finished.commit === null) {
            expect(["NO_CHANGE", "OBSOLETE", "ALREADY_COMPLETE"]).toContain(finished.resolution?.outcome);
            return;
          }
          expect(gatedTrees(world)).toContain(RandomWorld.treeOf(finished.commit));
          const landed = world.events.findLast(
            (event) => event.type === "land-ended" && event.outcome.type === "landed",
          );
          const landing = world.history.find((effect) => landed && "key" in landed && effect.key === landed.key);
          const head = landing?.kind === "land" ? landing.head : "";
          expect([head, `m-${head}`]).toContain(finished.commit.replace(/-tip\d$/, ""));
          if (world.policy.settings.per_issue_review.enabled && finished.resolution === null)
            expectReviewed(world, head);
        }),
        runs,
      );
    },
    slow,
  );

  it(
    "loses no finding, and closes one only when a check has ended or a person waived it",
    () => {
      fc.assert(
        fc.property(worlds, (world) => {
          world.live((before, event) => {
            const now = new Map(world.life.ledger.findings.map((finding) => [finding.id, finding]));
            for (const old of before.ledger.findings) expectLawful(old, now.get(old.id), { event, life: world.life });
          });
        }),
        runs,
      );
    },
    slow,
  );

  it(
    "the rows that its reports project to are its ledger, at every moment",
    () => {
      fc.assert(
        fc.property(worlds, (world) => {
          const rows = new Map(world.life.ledger.findings.map((finding) => [finding.id, finding]));
          let told = 0;
          world.live(() => {
            for (const report of world.reports.slice(told)) {
              const event = { ...report, seq: 1, time: "2030-01-01T00:00:00.000Z", run_id: "run-2" };
              for (const change of project(event, world.life.ledger)) {
                if (change.table === "finding") rows.set(change.row.id, change.row);
              }
            }
            told = world.reports.length;
            const stale = world.life.ledger.findings.filter((finding) => rows.get(finding.id) !== finding);
            if (stale.length > 0) throw new Error(`not stored: ${stale.map(({ title }) => title)}`);
          });
        }),
        runs,
      );
    },
    slow,
  );

  it(
    "nothing changes an ending, and folding the events gives the row again, through JSON and within 8 kB",
    () => {
      fc.assert(
        fc.property(worlds, (world) => {
          world.live();
          const transition = issueMachine(world.policy);
          for (const event of world.events) {
            const next = transition(world.life, { ...event, at: world.at + 1 });
            expect(next.state).toBe(world.life);
            expect(next.effects).toEqual([]);
          }
          expect(world.folded()).toEqual(JSON.parse(JSON.stringify(world.life)));
        }),
        runs,
      );
    },
    slow,
  );

  it("stays within 8 kB when it is resumed with more findings than a list can hold", () => {
    const blocking = Array.from({ length: 5000 }, (_, n) => n.toString(16).padStart(16, "0"));
    const resume = { runId: "run-1", sessionId: "s", blocking, baseSha: "c0", seen: null };
    const state = newIssue({ ...start, title: "x".repeat(100_000), resume });
    expect(JSON.stringify(state).length).toBeLessThanOrEqual(8192);
  });
});

function expectReviewed(world: RandomWorld, head: string): void {
  const { per_issue_review } = world.policy.settings;
  const slots =
    per_issue_review.reviewer_type === "panel" ? per_issue_review.panel.map((one) => one.name) : ["command"];
  for (const slot of slots) {
    const last = world.events.findLast((event) => {
      if (event.type !== "turn-ended") return false;
      const effect = world.history.find((one) => one.key === event.key);
      return effect?.kind === "turn" && effect.slot === slot && effect.stage !== "session_end" && effect.head === head;
    });
    const review = last?.type === "turn-ended" && last.outcome.type === "ended" ? last.review : null;
    if (review?.type !== "verdict") throw new Error(`${slot} gave no verdict on ${head}`);
    const blocking = review.findings.filter((one) => isBlocking(one.priority, per_issue_review.finding_threshold));
    const kept = blocking.filter((one) => {
      const known = world.life.ledger.findings.filter(
        (finding) => finding.title === one.title && finding.file === one.file,
      );
      return !known.some(isSettledOpinion);
    });
    expect(kept).toEqual([]);
  }
}

function expectLawful(old: Finding, now: Finding | undefined, at: { event: IssueEvent; life: IssueLife }): void {
  if (!now) throw new Error(`${old.title} is gone`);
  if (old.status !== "open" || now.status === "open") return;
  const { event, life } = at;
  if (now.status === "waived") {
    const byPerson = event.type === "signal" && event.signal.name === "waive" && event.signal.finding === old.id;
    expect(byPerson || life.state.ending?.status === "success").toBe(true);
    return;
  }
  if (old.stage === "merge" && now.status === "resolved") {
    const { landing, work } = life.state;
    const landed = event.type === "land-ended" && event.outcome.type === "landed";
    expect(landed || (landing.demanded && work?.containsBase)).toBe(true);
  }
  expect(["command-ended", "turn-ended", "land-ended", "worktree-committed", "worktree-ready", "crashed"]).toContain(
    event.type,
  );
}
