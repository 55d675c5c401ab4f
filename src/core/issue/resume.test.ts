import { describe, expect, it } from "vitest";
import type { Ledger } from "../finding.js";
import { emptyLedger, raise, waive } from "../ledger/ledger.js";
import type { IssueStart } from "../run/effects.js";
import type { TurnEnded } from "./events.js";
import { failWith, panelOf, policyOf, type Rules, remark, type Setup, snapshot, start, World } from "./fixture.js";

function left(stage = "per_issue_review", seen: IssueStart["seen"] | null = null) {
  return leftWith(0, seen, stage);
}
function leftWith(priority: number, seen: IssueStart["seen"] | null, stage = "per_issue_review") {
  const visit = { stage, source: "review", reviewer: "command", outcome: "fail", visit: 3 } as const;
  const remarks = [remark("Null deref", priority), remark("Naming", 2, "b.ts")];
  const { ledger } = raise(emptyLedger("p-1"), { ...visit, at: 1, commit: "c9", runId: "run-1", remarks });
  const blocking = ledger.findings.slice(0, 1).map((finding) => finding.id);
  const begin: IssueStart = {
    ...start,
    life: 2,
    resume: { runId: "run-1", sessionId: "old", blocking, baseSha: "c0", seen: seen ?? null },
  };
  return { ledger, blocking, begin };
}
/** The same, taken up again without a word of resume, as after a retry. */
function leftToRetry(seen: NonNullable<IssueStart["seen"]>) {
  const { ledger, blocking, begin } = left();
  return { ledger, blocking, begin: { ...begin, resume: null, blocking, seen } };
}
function resume(setup: Setup, rules: Rules = {}, from: { begin: IssueStart; ledger: Ledger } = left()): World {
  return new World(policyOf(setup), from.begin, from.ledger).play(rules);
}
const { agent } = policyOf({}).settings;
const fallback = { type: "codex", model: null, effort: null, command: [], env: [] } as const;
const takenOver = { ...agent, backoff_seconds: [], fallback };
const logs = (world: World) => world.reported("log").map((report) => report.text);

describe("a life resumed with the findings of its last review", () => {
  it("A2 sends review_followup, attempt 1 of 3, into the restored session, with exactly those findings, and says so once", () => {
    const world = resume({ review: {} });
    const [first] = world.turns();
    expect(first).toMatchObject({
      prompt: "review_followup",
      attempt: 1,
      maxAttempts: 3,
      session: "old",
      only: left().blocking,
    });
    expect(logs(world)).toEqual(["Using review_followup for resume: 1 issues from prior run run-1"]);
    expect(world.turns().filter((turn) => turn.role === "implementer")).toHaveLength(1);
  });

  it("A6 its rounds are counted on from those of the lives before, in every reviewer's findings", () => {
    const world = resume({ review: { max_retries: 2 } }, { review: () => failWith(remark("Null deref", 0)) });
    const [finding] = world.life.ledger.findings;
    expect([finding?.visit, (finding?.earlier ?? []).map(({ visit }) => visit)]).toEqual([5, [3, 4]]);
    const other = resume({ review: { max_retries: 1 } }, { review: () => failWith(remark("New", 0, "z.ts")) });
    expect(other.life.ledger.findings.map(({ title, visit, reason }) => [title, visit, reason])).toEqual([
      ["Null deref", 3, "not reported again by per_issue_review, visit 4"],
      ["Naming", 3, "not reported again by per_issue_review, visit 4"],
      ["New", 4, null],
    ]);
  });

  it("A6 passed: nothing is stored", () => {
    expect(resume({ review: {} }).finished()).toMatchObject({ status: "success", last_review_issues: null });
  });

  it("A6 failed again: only the new set, and the follow-up after round 1 is attempt 2", () => {
    const world = resume({ review: {} }, { review: () => failWith(remark("Other thing", 0, "z.ts")) });
    const stored = world.finished()?.last_review_issues ?? [];
    expect(
      world.life.ledger.findings.filter((finding) => stored.includes(finding.id)).map((finding) => finding.title),
    ).toEqual(["Other thing"]);
    expect(
      world
        .turns()
        .filter((turn) => turn.role === "implementer")
        .map((turn) => turn.attempt),
    ).toEqual([1, 2, 3]);
  });

  it("A6 failed before any review: the old findings are carried on", () => {
    const world = resume({ review: {} }, { implement: () => ({ outcome: { type: "failed", reason: "x" } }) });
    expect(world.finished()?.last_review_issues).toEqual(left().blocking);
  });

  it("says that it was a resume when it fails; what begins in such a run, and what a plain run goes on with, do not", () => {
    const fails: Rules = { implement: () => ({ outcome: { type: "failed", reason: "x" } }) };
    const told = (resumes: boolean, from: { begin: IssueStart; ledger: Ledger }) =>
      resume({ options: { resume: resumes } }, fails, from).history.find(({ key }) => key === "tracker:fail");
    const begun = { begin: start, ledger: emptyLedger("p-1") };
    expect(told(true, left())).toMatchObject({ op: "fail", resumed: true });
    for (const one of [told(true, begun), told(false, left())]) {
      expect(one).toMatchObject({ op: "fail" });
      expect(one).not.toHaveProperty("resumed");
    }
  });

  it("A8 a marker that settles what the gate had against the same tree is judged by the gate; anything else is no progress", () => {
    const work = snapshot(0, { commits: 0 });
    const from = left("per_issue_review", work);
    const { begin } = from;
    const gate = { stage: "gate", source: "gate", reviewer: "gate", outcome: "fail", visit: 1 } as const;
    const remarks = [remark("No commit", 1, "")];
    const { ledger } = raise(from.ledger, { ...gate, at: 2, commit: "c9", runId: "run-1", remarks });
    const answer = (name: "NO_CHANGE" | "ALREADY_COMPLETE" | null, more: Partial<typeof work> = {}): Rules => ({
      implement: () => ({ snapshot: { ...work, ...more }, marker: name && { name, rationale: "not needed" } }),
    });
    expect(resume({ review: {} }, answer("NO_CHANGE"), { begin, ledger }).finished()).toMatchObject({
      status: "success",
      resolution: { outcome: "NO_CHANGE" },
    });
    const stuck = { status: "failed", error: "no_progress", message: expect.stringContaining("last check saw") };
    expect(resume({ review: {} }, answer(null), { begin, ledger }).finished()).toMatchObject(stuck);
    for (const name of ["NO_CHANGE", "ALREADY_COMPLETE"] as const) {
      const world = resume({ review: {} }, answer(name, { commits: 1 }), { begin, ledger });
      expect(world.finished()).toMatchObject(stuck);
    }
    // The gate had nothing against it: what the review said is not answered by a marker.
    const named = answer("ALREADY_COMPLETE", { commits: 1, namedCommitInTarget: true });
    expect(resume({ review: {} }, named, from).finished()).toMatchObject(stuck);
  });

  it("A7 the session is gone: once more, the same prompt in a new session", () => {
    const gone: Rules = {
      implement: (turn) => (turn.session === "old" ? { outcome: { type: "no-session" }, sessionId: null } : {}),
    };
    const world = resume({ review: {} }, gone);
    expect(
      world
        .turns()
        .slice(0, 2)
        .map((turn) => [turn.prompt, turn.session, turn.only]),
    ).toEqual([
      ["review_followup", "old", left().blocking],
      ["review_followup", null, left().blocking],
    ]);
    expect(logs(world).filter((text) => text.startsWith("Using"))).toHaveLength(1);
    const strict = resume({ review: {}, options: { strict: true } }, gone);
    expect(strict.finished()).toMatchObject({
      status: "failed",
      error: "session_not_found",
      last_review_issues: left().blocking,
    });
  });

  it.each<[string, Parameters<typeof resume>[0], TurnEnded["outcome"]]>([
    ["the session is gone", {}, { type: "no-session" }],
    ["the session is full", {}, { type: "overflow", reason: "full" }],
    ["another agent takes over", { settings: { agent: takenOver } }, { type: "transient", reason: "529" }],
  ])("A7 nothing is left of the work, and %s: the same prompt goes into a new one", (_what, setup, outcome) => {
    const gone: Rules = {
      worktree: { from: "new" },
      implement: (turn) => (turn.session === "old" ? { outcome, sessionId: null } : {}),
    };
    const world = resume({ review: {}, ...setup }, gone);
    const { blocking } = left();
    expect(world.turns().map((turn) => [turn.role, turn.prompt, turn.session, turn.attempt, turn.only])).toEqual([
      ["implementer", "review_followup", "old", 1, blocking],
      ["implementer", "review_followup", null, 1, blocking],
      ["reviewer", "review", null, 1, null],
    ]);
  });

  it("A7 strict, and the record has no session: failed before any turn", () => {
    const from = left();
    const begin = { ...from.begin, resume: from.begin.resume && { ...from.begin.resume, sessionId: null } };
    const world = resume({ review: {}, options: { strict: true } }, {}, { begin, ledger: from.ledger });
    expect(world.finished()).toMatchObject({ status: "failed", error: "session_not_found" });
    expect(world.turns()).toEqual([]);
  });

  it("fresh: the implementer prompt with the findings, in a new session", () => {
    const world = resume({ review: {}, options: { fresh: true } });
    const [first] = world.turns();
    expect(first).toMatchObject({ prompt: "implementer", session: null, only: left().blocking });
    expect(logs(world)).toEqual([
      "Using implementer in a new session for resume, followed by 1 issues from prior run run-1",
    ]);
  });

  it("fresh: what the gate has left open follows, too, each finding once", () => {
    const from = left();
    const gate = { stage: "gate", source: "gate", reviewer: "gate", outcome: "fail", visit: 1 } as const;
    const remarks = [remark("test failed", null, "")];
    const { ledger } = raise(from.ledger, { ...gate, at: 2, commit: "c9", runId: "run-1", remarks });
    const failed = ledger.findings.filter(({ source }) => source === "gate").map(({ id }) => id);
    const only = (options: Setup["options"]) =>
      resume({ review: {}, ...(options && { options }) }, {}, { begin: from.begin, ledger }).turns()[0]?.only;
    expect(failed).toHaveLength(1);
    expect(only({ fresh: true })).toEqual([...from.blocking, ...failed]);
    expect(only({})).toEqual(from.blocking);
  });

  it("A6 its record has session, base and findings from the first, also when it ends before its first turn", () => {
    const { commands } = policyOf({}).settings;
    const setup = { command: "npm ci", timeout: 900, allow_fail: false, exclusive: false };
    const fails: Rules = { command: () => ({ exitCode: 1 }) };
    const world = resume({ review: {}, settings: { commands: { ...commands, setup } } }, fails);
    const { blocking } = left();
    expect(world.reported("issue-started")).toMatchObject([{ session_id: "old", base_sha: "c0", blocking }]);
    expect(world.finished()).toMatchObject({ error: "setup_failed", session_id: "old", last_review_issues: blocking });
    const [unchecked] = resume({}).reported("issue-started");
    expect(unchecked?.blocking).toBeUndefined();
  });

  it("A8 the tree of the earlier run's last round is no progress", () => {
    const seen = { tree: "t1", filesTree: "t1" };
    const world = resume({ review: {} }, { implement: () => ({ snapshot: snapshot(1) }) }, left(undefined, seen));
    expect(world.finished()).toMatchObject({ error: "no_progress", last_review_issues: left().blocking });
    expect(world.reported("gate-started")).toEqual([]);
  });

  it("A8 the same without a resume: no gate, no reviewer, and the findings stay, whatever ended the life", () => {
    const from = leftToRetry({ tree: "t1", filesTree: "t1" });
    const same: Rules = { implement: () => ({ snapshot: snapshot(1) }) };
    const world = resume({ review: {} }, same, from);
    expect(world.finished()).toMatchObject({ error: "no_progress", last_review_issues: from.blocking });
    expect([world.reported("gate-started"), world.reported("review-started")]).toEqual([[], []]);
    const crashed = resume({ review: {} }, { implement: () => ({ outcome: { type: "failed", reason: "x" } }) }, from);
    expect(crashed.finished()).toMatchObject({ error: "agent_failed", seen: { tree: "t1", filesTree: "t1" } });
  });

  it.each<[string, Setup, (from: ReturnType<typeof leftToRetry>) => { begin: IssueStart; ledger: Ledger }]>([
    ["somebody changed the work", { review: {} }, () => leftToRetry({ tree: "t0", filesTree: "t0" })],
    [
      "all that blocked is waived",
      { review: {} },
      ({ begin, ledger, blocking }) => ({
        begin,
        ledger: waive(ledger, { ids: blocking, reason: "fine", at: 2 }).ledger,
      }),
    ],
    ["only the checks are asked for", { review: {}, options: { only: "check" } }, (from) => from],
    ["nobody checks it any more", { review: panelOf("style") }, () => removedMember()],
  ])("A8 the same without a resume, but %s: the review judges it", (_what, setup, from) => {
    const same: Rules = { implement: () => ({ snapshot: snapshot(1) }), left: snapshot(1) };
    const seen = { tree: "t1", filesTree: "t1", reviewed: "t1" };
    const world = resume(setup, same, from(leftToRetry(seen)));
    expect(world.reported("review-started")).toHaveLength(1);
    expect(world.finished()).toMatchObject({ status: "success" });
  });
  function removedMember() {
    const { ledger, blocking, begin } = left("per_issue_review/security");
    return { ledger, begin: { ...begin, resume: null, blocking, seen: { tree: "t1", filesTree: "t1" } } };
  }

  it.each([
    ["resumed", (seen: NonNullable<IssueStart["seen"]>) => left(undefined, seen)],
    ["not resumed", leftToRetry],
  ])("A8 what is done and undone again is the tree that the last review saw, in a life that is %s", (_how, from) => {
    const undone: Rules = {
      implement: (_turn, n) => ({ snapshot: snapshot(1, n === 1 ? { filesTree: "loose", dirtyCount: 1 } : {}) }),
    };
    const seen = { tree: "t9", filesTree: "t9", reviewed: "t1" };
    const world = resume({ review: {} }, undone, from(seen));
    expect(world.reported("gate-started")).toHaveLength(2);
    expect(world.reported("review-started")).toEqual([]);
    expect(world.finished()).toMatchObject({ error: "no_progress", seen: { reviewed: "t1" } });
  });

  it.each([
    ["only a gate has seen it", { review: {} }, { tree: "t1", filesTree: "t1", reviewed: "t0" }],
    [
      "nothing of it blocks today",
      { review: { finding_threshold: "P0" } },
      { tree: "t1", filesTree: "t1", reviewed: "t1" },
    ],
  ] as const)("A8 what was left unchanged is judged where %s", (_what, setup, seen) => {
    const { begin, ledger, blocking } = leftWith(1, seen);
    expect(blocking).toHaveLength(1);
    const world = resume(setup, { implement: () => ({ snapshot: snapshot(1) }) }, { begin, ledger });
    expect(world.reported("review-started")).toHaveLength(1);
    expect(world.finished()).toMatchObject({ status: "success" });
  });

  it("waived findings are not replayed; none left: the implementer prompt", () => {
    const from = left();
    const { ledger } = waive(from.ledger, { ids: from.blocking, reason: "fine", at: 2 });
    const world = resume({ review: {} }, {}, { begin: from.begin, ledger });
    expect(world.turns()[0]).toMatchObject({ prompt: "implementer", session: "old", only: null });
    expect(logs(world)).toEqual([]);
  });

  it("A2 a finding that session_end's review told first is replayed too", () => {
    const early = { stage: "session_end", source: "review", reviewer: "command", outcome: "fail", visit: 1 } as const;
    const remarks = [remark("Null deref", 0)];
    const told = raise(emptyLedger("p-1"), { ...early, at: 1, commit: "c9", runId: "run-1", remarks }).ledger;
    const both = raise(told, {
      ...early,
      stage: "per_issue_review",
      at: 2,
      commit: "c9",
      runId: "run-1",
      remarks,
    }).ledger;
    expect(both.findings).toMatchObject([{ stage: "session_end" }]);
    const world = resume({ review: {} }, {}, { begin: left().begin, ledger: both });
    expect(world.turns()[0]).toMatchObject({ prompt: "review_followup", only: left().blocking });
  });

  it("findings of a reviewer that is no longer configured are superseded", () => {
    const world = resume({ review: {} }, {}, left("per_issue_review/security"));
    expect(world.turns()[0]?.prompt).toBe("implementer");
    expect(world.life.ledger.findings.map((finding) => finding.reason)).toEqual([
      "no longer checked",
      "no longer checked",
    ]);
  });

  it.each<[string, Setup["review"]]>([
    ["another reviewer", { reviewer_type: "agent_sdk" }],
    ["a panel", panelOf("style", "security")],
  ])("findings of a review without a panel are the review's: %s judges them", (_who, review = {}) => {
    const world = resume({ review });
    expect(world.turns()[0]).toMatchObject({ prompt: "review_followup", only: left().blocking });
    expect(world.life.ledger.findings.map(({ status }) => status)).toEqual(["resolved", "resolved"]);
    const again = resume({ review: { ...review, max_retries: 1 } }, { review: () => failWith(remark("Other", 0)) });
    expect(again.life.ledger.findings[0]).toMatchObject({ title: "Null deref", status: "superseded" });
  });

  const leavesOut = (review: NonNullable<Setup["review"]>): Setup => {
    const { settings } = policyOf({ review });
    const per_issue_review = { ...settings.per_issue_review, enabled: false };
    return {
      settings: {
        per_issue_review,
        left_out_reviewer: { section: "per_issue_review", review: settings.per_issue_review },
      },
    };
  };

  it("a review that a flag leaves out keeps what it found until the issue has succeeded without it", () => {
    const flagged = leavesOut({ track_review_issues: false });
    const failed = resume(flagged, { implement: () => ({ outcome: { type: "failed", reason: "x" } }) });
    expect(failed.turns()[0]).toMatchObject({ prompt: "review_followup", only: left().blocking });
    expect(failed.finished()).toMatchObject({ status: "failed", last_review_issues: left().blocking });
    expect(failed.life.ledger).toEqual(left().ledger);
    const same = snapshot(1);
    const world = resume(flagged, { implement: () => ({ snapshot: same }) }, left("per_issue_review", same));
    expect(world.finished()).toMatchObject({ status: "success", last_review_issues: null });
    expect(world.life.ledger.findings.map((finding) => finding.reason)).toEqual([
      "no longer checked",
      "no longer checked",
    ]);
  });

  it("a review that a flag leaves out: what is open of it, what blocks too, is tracked once the issue has succeeded", () => {
    const tracker: Rules = { tracker: () => ({ id: "p-7" }) };
    const followUp = (world: World) =>
      world.history.find((effect) => effect.kind === "tracker" && effect.op === "follow-up");
    const reasons = (world: World) => world.life.ledger.findings.map(({ status, reason }) => `${status}: ${reason}`);
    const tracked = resume(leavesOut({}), tracker);
    expect(followUp(tracked)).toMatchObject({ findings: left().ledger.findings.map(({ id }) => id) });
    expect(reasons(tracked)).toEqual(["waived: tracked as p-7", "waived: tracked as p-7"]);
    const mute = {
      stage: "per_issue_review",
      source: "protocol",
      reviewer: "command",
      outcome: "fail",
      visit: 4,
    } as const;
    const from = left();
    const { ledger } = raise(from.ledger, {
      ...mute,
      at: 2,
      commit: "c9",
      runId: "run-1",
      remarks: [remark("Mute", 1)],
    });
    expect(reasons(resume(leavesOut({}), tracker, { ...from, ledger })).at(-1)).toBe("superseded: no longer checked");
    const superseded = Array(2).fill("superseded: no longer checked");
    const none = { marker: { name: "NO_CHANGE", rationale: "not needed" }, snapshot: snapshot(0) } as const;
    for (const world of [
      resume(leavesOut(panelOf("style")), tracker, left("per_issue_review/security")),
      resume(leavesOut({}), { ...tracker, implement: () => none }),
    ]) {
      expect(world.finished()).toMatchObject({ status: "success" });
      expect(followUp(world)).toBeUndefined();
      expect(reasons(world)).toEqual(superseded);
    }
  });

  it("C8 base_sha is the earlier life's", () => {
    const from = left();
    const begin = { ...from.begin, resume: from.begin.resume && { ...from.begin.resume, baseSha: "b7" } };
    const world = resume({ review: {} }, {}, { begin, ledger: from.ledger });
    expect(world.reported("worktree-ready")).toMatchObject([{ base_sha: "b7" }]);
    expect(world.turns().map((turn) => turn.base)).toEqual(["b7", "b7"]);
  });
});
