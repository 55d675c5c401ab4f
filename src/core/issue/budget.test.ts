import { describe, expect, it } from "vitest";
import type { Budget } from "../settings.js";
import {
  failWith,
  panelOf,
  pass,
  play,
  policyOf,
  type Rules,
  remark,
  review,
  type Setup,
  snapshot,
  World,
} from "./fixture.js";
import { triggerResult } from "./session-end-result.js";
import { reviewedUpTo } from "./unlanded.js";

const none: Budget = { usd: null, tokens: null, minutes: null };
const within = (issue: Partial<Budget>, setup: Setup = {}): Setup => ({
  ...setup,
  settings: { ...setup.settings, budgets: { issue: { ...none, ...issue }, run: none } },
});
const usage = { input_tokens: 60, output_tokens: 40, cost_usd: 0.5 };
const costly: Rules = {
  implement: (_, n) => ({ usage, snapshot: snapshot(n) }),
  fix: (_, n) => ({ usage, snapshot: snapshot(50 + n) }),
  review: () => ({ ...failWith(remark("Wrong", 0)), usage }),
};
const failed = { outcome: { type: "failed", reason: "exit code 1" } } as const;
const notBegun = { outcome: { type: "stopped" }, unbegun: true } as const;
const sessionEnd = { failure_mode: "remediate", max_retries: 2 } as const;
const failing: Rules["command"] = (effect) => ({ exitCode: effect.stage === "session_end" ? 1 : 0 });

describe("an issue's budget", () => {
  it.each<[string, Setup, Rules, string[]]>([
    ["a turn that used up its tokens", within({ tokens: 100 }), costly, ["implementer"]],
    ["a turn that used up its dollars", within({ usd: 0.5 }), costly, ["implementer"]],
    [
      "a turn that used up its tokens and failed",
      within({ tokens: 100 }),
      { implement: () => ({ ...failed, usage }) },
      ["implementer"],
    ],
    ["a turn that used up its minutes", within({ minutes: 1e-6 }), {}, []],
    ["a reviewer's turn", within({ tokens: 200 }, { review: {} }), costly, ["implementer", "review"]],
    [
      "a follow-up's turn",
      within({ tokens: 300 }, { review: {} }),
      costly,
      ["implementer", "review", "review_followup"],
    ],
    [
      "a fixer's turn in session_end",
      within({ tokens: 200 }, { sessionEnd }),
      { ...costly, command: failing },
      ["implementer", "fixer"],
    ],
  ])("%s ends it: nothing more is asked of an agent, and nothing lands", (_, setup, rules, prompts) => {
    const world = play(setup, rules);
    expect(world.turns().map(({ prompt }) => prompt)).toEqual(prompts);
    expect(world.finished()).toMatchObject({ status: "escalated", error: "budget" });
    expect(world.history.some(({ kind }) => kind === "land")).toBe(false);
  });

  it("other reviewers of the round end first, and a reviewer without a verdict is not asked again", () => {
    const rules: Rules = {
      ...costly,
      review: (effect, n) => (effect.slot === "style" && n < 3 ? null : { ...pass, usage }),
    };
    const world = play(within({ tokens: 200 }, { review: panelOf("security", "style") }), rules);
    expect(world.finished()).toBeUndefined();
    expect(world.life.state.phase).toBe("reviewing");
    const retried = play(within({ tokens: 200 }, { review: {} }), {
      ...costly,
      review: () => ({ outcome: { type: "failed", reason: "no" }, usage }),
    });
    expect(retried.turns()).toHaveLength(2);
    expect(retried.finished()).toMatchObject({ status: "escalated", error: "budget" });
  });

  it("a reviewer that was not started waits for the word of whoever used it up, whichever is recorded first", () => {
    for (const first of ["security", "style"]) {
      const rules: Rules = {
        ...costly,
        review: ({ slot }) => (slot === first ? notBegun : { ...pass, usage }),
      };
      const world = play(within({ tokens: 200 }, { review: panelOf("security", "style") }), rules);
      expect(world.turns().map(({ prompt }) => prompt)).toEqual(["implementer", "review", "review"]);
      expect(world.finished()).toMatchObject({ status: "escalated", error: "budget" });
    }
  });

  it("a back-off that outlasts the minutes does not send the turn again", () => {
    const rules: Rules = { implement: () => ({ outcome: { type: "transient", reason: "busy" } }) };
    const world = play(within({ minutes: 0.02 }), rules);
    expect(world.turns().length).toBeLessThan(3);
    expect(world.finished()).toMatchObject({ status: "escalated", error: "budget" });
  });

  it("D1 the minutes in which no process drove it do not count", () => {
    const hour = 3_600_000;
    const world = new World(policyOf(within({ minutes: 1 })));
    world.arrive({ type: "started" });
    world.at += hour;
    world.arrive({ type: "resumed", since: world.at - hour });
    expect(world.goOn().finished()).toMatchObject({ status: "success" });
    const driven = new World(policyOf(within({ minutes: 1 })));
    driven.arrive({ type: "started" });
    driven.at += hour;
    driven.arrive({ type: "resumed", since: driven.at });
    expect(driven.goOn().finished()).toMatchObject({ status: "escalated", error: "budget" });
  });
});

const reviewedAtEnd: Setup = { sessionEnd: { code_review: review } };
const endOf = (world: World) => world.reported("session-end-completed").at(-1)?.session_end_result;

describe("the run's budget", () => {
  const runBudget = "5 of 5 USD";
  const signal = (key: string): Rules => ({
    before: (world) =>
      world.owed.has(key) && !world.life.state.runBudget ? { name: "budget", reason: "5 of 5 USD" } : null,
  });
  it("lets a life land that needs no further turn", () => {
    expect(play({}, signal("turn:implementer:1")).finished()?.status).toBe("success");
  });
  it("escalates one that needs a further turn, by its own turn's word at once", () => {
    const told = play({ review: {} }, signal("gate:1:test"));
    expect(told.turns()).toHaveLength(1);
    expect(told.finished()).toMatchObject({ status: "escalated", message: "The run's budget is used up: 5 of 5 USD" });
    const own = play(
      { review: {}, settings: { evidence_check: { required: [] } } },
      {
        implement: () => ({ runBudget: "5 of 5 USD" }),
      },
    );
    expect(own.turns()).toHaveLength(1);
    expect(own.finished()).toMatchObject({ status: "escalated", error: "budget" });
  });
  it.each([
    ["its commands passed", {}, { status: "fail", reason: "budget" }],
    ["one of them failed", { command: failing }, { status: "fail", reason: "command_failed" }],
  ])("never lets session_end pass without the review that was asked for: %s", (_, rules, result) => {
    const world = play(reviewedAtEnd, { ...signal("gate:1:test"), ...rules });
    expect(world.turns()).toHaveLength(1);
    const unreviewed = { ran: false, passed: false, findings: [] };
    expect(endOf(world)).toMatchObject({ ...result, code_review_result: unreviewed });
    expect(world.finished()).toMatchObject({ status: "escalated", error: "budget" });
  });
  it("says the same where a reviewer of session_end was owed and not started", () => {
    const world = play(reviewedAtEnd, { review: () => ({ ...notBegun, runBudget: "5 of 5 USD" }) });
    const unreviewed = { ran: false, passed: false, findings: [] };
    expect(endOf(world)).toMatchObject({ status: "fail", reason: "budget", code_review_result: unreviewed });
    expect(world.finished()).toMatchObject({ status: "escalated", error: "budget" });
  });
  it("says the same of a trigger of the run", () => {
    const policy = policyOf({ runEnd: { code_review: review } });
    const world = new World(policy, { issueId: "", title: "run_end", life: 1, resume: null });
    world.play({ ...signal("worktree:open"), worktree: { reviewBase: "earlier" } });
    expect(triggerResult(policy, world.life.state)).toMatchObject({
      ...{ result: "fail", reason: "budget", code_review_result: { ran: false, passed: false, findings: [] } },
      commands: [{ passed: true }, { passed: true }, { passed: true }],
    });
  });
  it.each<[string, Rules, string[], string]>([
    [
      "fixer is not sent",
      { review: () => ({ ...failWith(remark("Wrong", 0)), runBudget }) },
      ["reviewer"],
      "code_review",
    ],
    [
      "next round is not begun",
      { review: () => failWith(remark("Wrong", 0)), fix: () => ({ runBudget }) },
      ["reviewer", "fixer"],
      "budget",
    ],
  ])("is asked before the review of a trigger of the run goes on: its %s", (_, rules, roles, reason) => {
    const policy = policyOf({ runEnd: { code_review: { ...review, failure_mode: "remediate", max_retries: 2 } } });
    const world = new World(policy, { issueId: "", title: "run_end", life: 1, resume: null });
    world.play({ worktree: { reviewBase: "earlier" }, ...rules });
    expect(world.turns().map(({ role }) => role)).toEqual(roles);
    expect(world.reported("review-started")).toHaveLength(1);
    expect(triggerResult(policy, world.life.state)).toMatchObject({
      ...{ result: "fail", reason, code_review_result: { ran: true, passed: false } },
    });
    expect(reviewedUpTo(world.life.state, "since_last_review")).toBe(roles.length > 1 ? "earlier" : "c0");
  });
  it("gives back an issue whose first turn was not started, and escalates one whose later turn was not", () => {
    const fresh = play({}, { implement: () => ({ ...notBegun, runBudget }) });
    expect(fresh.turns()).toHaveLength(1);
    expect(fresh.finished()).toMatchObject({ status: "interrupted", error: "budget" });
    const later = play(
      { review: {} },
      {
        implement: (_, n) => (n === 2 ? { ...notBegun, runBudget } : { snapshot: snapshot(n) }),
        review: () => failWith(remark("Wrong", 0)),
      },
    );
    expect(later.turns().map(({ prompt }) => prompt)).toEqual(["implementer", "review", "review_followup"]);
    expect(later.finished()).toMatchObject({ status: "escalated", error: "budget" });
  });
  it("gives back an issue whose first turn has not begun", () => {
    const world = play({}, signal("worktree:open"));
    expect(world.turns()).toEqual([]);
    expect(world.finished()).toMatchObject({ status: "interrupted", error: "budget" });
    expect(world.history.at(-1)).toMatchObject({ kind: "tracker", op: "release" });
  });
});

describe("an escalated issue", () => {
  it("has its dossier written first, and its path in the event; then the tracker is told", () => {
    const world = play(within({ tokens: 1 }), costly);
    const kinds = world.history.map((effect) => ("op" in effect ? `${effect.kind} ${effect.op}` : effect.kind));
    expect(kinds.slice(-2)).toEqual(["dossier", "tracker escalate"]);
    expect(world.reported("escalated")).toMatchObject([{ dossier: "/home/runs/run-2/p-1/dossier.md" }]);
  });
});
