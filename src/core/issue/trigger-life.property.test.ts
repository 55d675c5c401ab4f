import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyLedger } from "../ledger/ledger.js";
import { review, type Setup } from "./fixture.js";
import { openFixers, unheardFailures, unheardPasses, worldsOf } from "./random-world.js";
import { triggerResult } from "./session-end-result.js";
import { parked, reviewedUpTo } from "./unlanded.js";

const failureMode = fc.constantFrom("continue", "abort", "remediate");
const setups: fc.Arbitrary<Setup> = fc
  .record({
    failure_mode: failureMode,
    max_retries: fc.nat(2),
    own: fc.option(fc.record({ failure_mode: failureMode, max_retries: fc.nat(2), track_review_issues: fc.boolean() })),
    mode: fc.constantFrom("merge", "branch"),
  })
  .map(({ failure_mode, max_retries, own, mode }) => ({
    runEnd: { failure_mode, max_retries, code_review: own && { ...review, ...own } },
    settings: { finalize: { mode, into: null } },
  }));
const begin = { start: { issueId: "", title: "run_end", life: 1, resume: null }, ledger: emptyLedger("run-2") };
const worlds = worldsOf(setups, () => begin, 500);
const runs = { numRuns: 400 };

describe("whatever happens to a trigger of the run", () => {
  it("its life ends, with nothing owed; no issue is spoken of, and the tracker hears of follow-ups alone", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { state } = world.live();
        expect([state.phase, world.owed.size]).toEqual(["done", 0]);
        expect(state.ending).not.toBeNull();
        expect(world.reports.filter((report) => "issue_id" in report)).toEqual([]);
        const asked = world.history.flatMap((effect) => (effect.kind === "tracker" ? [effect.op] : []));
        expect(asked.filter((op) => op !== "follow-up")).toEqual([]);
        expect(world.history.some((effect) => effect.kind === "turn" && effect.role === "implementer")).toBe(false);
      }),
      runs,
    );
  });

  it("a check that ended by itself and failed is a finding, whatever ends it", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        expect(unheardFailures(world)).toEqual([]);
      }),
      runs,
    );
  });

  it("a command that ended by itself and passed has closed what it had found before, whatever ends it", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        expect(unheardPasses(world)).toEqual([]);
      }),
      runs,
    );
  });

  it("of its commands at most one is open at its end, and where its repair has not landed one that failed without it", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const failed: string[] = [];
        let told = 0;
        world.live((before) => {
          const isOnBase = before.state.work?.head === before.state.baseSha;
          for (const report of world.reports.slice(told))
            if (isOnBase && report.type === "finding-raised" && report.source === "command")
              failed.push(report.finding);
          told = world.reports.length;
        });
        const { state, ledger } = world.life;
        const open = ledger.findings.filter(({ source, status }) => source === "command" && status === "open");
        expect(open.length).toBeLessThanOrEqual(1);
        const { work, baseSha, ending } = state;
        if (work === null || work.head === baseSha || ending?.commit) return;
        for (const { id } of open) expect(failed).toContain(id);
      }),
      runs,
    );
  });

  it("every fixer that started has ended once", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        world.live();
        expect(openFixers(world)).toEqual([]);
      }),
      runs,
    );
  });

  it("it passes only when every command did, no review blocks, and what its fixers committed has landed", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { state } = world.live();
        const { result, commands, code_review_result, reason } = triggerResult(world.policy, state);
        if (result === "fail") {
          expect(reason).not.toBeNull();
          return;
        }
        expect(commands.map(({ passed }) => passed)).toEqual([true, true, true]);
        expect(code_review_result?.passed ?? true).toBe(true);
        if (state.work && state.work.head !== state.baseSha) expect(state.ending?.commit).not.toBeNull();
      }),
      runs,
    );
  });

  it("what its checks have closed was closed on what is on the branch, and the next review begins no later than that", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { state, ledger } = world.live();
        const { work, baseSha, ending, reviewBase } = state;
        if (work === null || work.head === baseSha || ending?.commit) return;
        expect(["earlier", null]).toContain(reviewedUpTo(state, "since_last_review"));
        expect(reviewBase).toBe("earlier");
        for (const { status, source, reason, resolved_commit } of ledger.findings) {
          if (status === "open" || status === "waived" || source === "protocol") continue;
          if (reason !== "no longer checked" && reason !== parked) expect(resolved_commit).toBe(baseSha);
        }
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
