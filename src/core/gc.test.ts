import { describe, expect, it } from "vitest";
import { type GcData, type GcIssue, type GcRun, planGc } from "./gc.js";

const day = 86_400_000;
const run = (patch: Partial<GcRun> = {}): GcRun => ({
  runId: "old",
  folder: "/runs/old",
  endedAt: 0,
  unfinished: false,
  issues: [{ issueId: "a", status: "success", work: "landed", isResumable: false }],
  ...patch,
});
const data = (patch: Partial<GcData> = {}): GcData => ({
  now: 31 * day,
  retentionDays: 30,
  runs: [run()],
  orphans: [],
  neededRuns: [],
  landings: [],
  slots: [],
  mirror: null,
  ...patch,
});
const issue = (status: GcIssue["status"], work: GcIssue["work"], isResumable = false): GcIssue => ({
  issueId: "a",
  status,
  work,
  isResumable,
});

describe("what gc clears away", () => {
  it.each<[string, Partial<GcData>, string | null]>([
    ["an old run whose work has landed", {}, null],
    ["one without issues", { runs: [run({ issues: [] })] }, null],
    ["failed work that is parked", { runs: [run({ issues: [issue("failed", "parked")] })] }, null],
    ["failed work that has landed since", { runs: [run({ issues: [issue("failed", "landed")] })] }, null],
    ["failed work that left nothing", { runs: [run({ issues: [issue("escalated", "none")] })] }, null],
    ["success on a branch of the user's", { runs: [run({ issues: [issue("success", "unlanded")] })] }, null],
    [
      "failed work in a worktree",
      { runs: [run({ issues: [issue("failed", "unlanded")] })] },
      "a has work that has neither landed nor been parked",
    ],
    ["a run that is not over", { runs: [run({ unfinished: true })] }, "it is not over"],
    ["one whose end nobody recorded", { runs: [run({ endedAt: null, unfinished: true })] }, "it is not over"],
    ["an issue that is not over", { runs: [run({ issues: [issue("running", "none")] })] }, "a is not over"],
    [
      "an open issue's last session",
      { runs: [run({ issues: [issue("failed", "parked", true)] })] },
      "a is open: a resume goes on with its session",
    ],
    ["texts of open findings", { neededRuns: ["old"] }, "open findings point into it"],
  ])("%s: %#", (_, patch, why) => {
    const { actions, kept } = planGc(data(patch));
    expect(actions).toEqual(why === null ? [{ kind: "run", runId: "old", path: "/runs/old" }] : []);
    expect(kept).toEqual(why === null ? [] : [{ runId: "old", why }]);
  });

  it("a run of exactly the retention, or younger, is not looked at", () => {
    expect(planGc(data({ now: 30 * day }))).toEqual({ actions: [], kept: [] });
  });

  it("old folders without a record, as a crash in the middle of clearing away leaves them", () => {
    const orphans = [
      { path: "/runs/x", at: 0 },
      { path: "/runs/y", at: 30 * day },
    ];
    expect(planGc(data({ runs: [], orphans })).actions).toEqual([{ kind: "folder", path: "/runs/x" }]);
  });

  it("landing worktrees and slot numbers whose owner is gone", () => {
    const landings = [
      { runId: "old", path: "/w/_landing-old" },
      { runId: "now", path: "/w/_landing-now" },
      { runId: "unknown", path: "/w/_landing-unknown" },
    ];
    const slots = [
      { file: "/slots/0", worktree: "/w/a", exists: true },
      { file: "/slots/1", worktree: "/w/b", exists: false },
    ];
    const runs = [run({ endedAt: 31 * day }), run({ runId: "now", unfinished: true, endedAt: null })];
    expect(planGc(data({ runs, landings, slots })).actions).toEqual([
      { kind: "landing", path: "/w/_landing-old" },
      { kind: "landing", path: "/w/_landing-unknown" },
      { kind: "slot", path: "/slots/1", worktree: "/w/b" },
    ]);
  });

  it.each([
    ["packs and prunes the mirror when no checkout borrows from it", 0, false, [{ prune: true }]],
    ["only packs it while an issue has a checkout", 1, false, [{ prune: false }]],
    ["leaves it alone while a run goes on", 0, true, []],
  ])("%s", (_, checkouts, unfinished, expected) => {
    const runs = [run({ endedAt: 31 * day, unfinished })];
    const { actions } = planGc(data({ runs, mirror: { path: "/m", checkouts, pooled: 0 } }));
    expect(actions).toEqual(expected.map((one) => ({ kind: "mirror", path: "/m", ...one })));
  });

  it("takes what is kept for the next worktrees, but not while a run goes on", () => {
    const kinds = (unfinished: boolean) =>
      planGc(
        data({ runs: [run({ endedAt: 31 * day, unfinished })], mirror: { path: "/m", checkouts: 0, pooled: 2 } }),
      ).actions.map(({ kind }) => kind);
    expect([kinds(false), kinds(true)]).toEqual([["pool", "mirror"], []]);
  });
});
