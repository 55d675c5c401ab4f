import { describe, expect, it } from "vitest";
import { resolveFindings, waive } from "../ledger/ledger.js";
import type { ItemStatus } from "../ports/tracker.js";
import { failWith, panelOf, play, policyOf, type Rules, remark, type Setup, start, World } from "./fixture.js";
import { canBeTakenAway } from "./taken-away.js";

const phases = (setup: Setup, rules: Rules = {}) => {
  const world = play(setup, rules);
  const told = world.history.findLast((effect) => effect.kind === "tracker");
  return { world, told: told?.kind === "tracker" ? told.op : "", roles: world.turns().map(({ role }) => role) };
};
const check: Setup = { review: {}, sessionEnd: {}, options: { only: "check" } };
const land: Setup = { ...check, options: { only: "land" } };
const broken: Rules["command"] = (effect) => ({ exitCode: effect.name === "test" ? 1 : 0 });

describe("run --resume --check-only", () => {
  it("begins at the gate, goes through session_end and review, and lands; no agent starts", () => {
    const { world, roles, told } = phases(check);
    expect(roles).toEqual(["reviewer"]);
    expect(world.commands()).toEqual(expect.arrayContaining(["gate:1:test", "session_end:02:one"]));
    expect(world.finished()).toMatchObject({ status: "success", commit: "c1" });
    expect(told).toBe("complete");
  });

  it.each<[string, Setup, Rules, string]>([
    ["a failing gate", check, { command: broken }, "gate_failed"],
    ["uncommitted changes", check, { left: { dirtyCount: 1, dirty: ["a"], filesTree: "x" } }, "gate_failed"],
    ["a blocking review", check, { review: () => failWith(remark("Wrong", 0)) }, "review_failed"],
    [
      "a blocking review that would be remediated",
      { ...check, review: { failure_mode: "remediate" } },
      { review: () => failWith(remark("Wrong", 0)) },
      "review_failed",
    ],
    ["a conflict", check, { land: () => ({ type: "conflict", tip: "t", files: ["a"] }) }, "landing_failed"],
  ])("%s ends it failed, and nobody is asked to fix it", (_, setup, rules, error) => {
    const { world, roles, told } = phases(setup, rules);
    expect(world.finished()).toMatchObject({ status: "failed", error });
    expect(roles.filter((role) => role !== "reviewer")).toEqual([]);
    expect(told).toBe("fail");
  });

  it("a failing session_end that would be remediated gets no fixer", () => {
    const sessionEnd = { failure_mode: "remediate", max_retries: 2 } as const;
    const failing: Rules["command"] = (effect) => ({ exitCode: effect.stage === "session_end" ? 1 : 0 });
    const { world, roles } = phases({ ...check, sessionEnd }, { command: failing });
    expect(roles).toEqual(["reviewer"]);
    expect(world.reported("session-end-completed")).toMatchObject([{ result: "fail", reason: "command_failed" }]);
  });
});

describe("ratchet land", () => {
  it.each(["merge", "branch"] as const)("in mode %s runs the gate alone, then lands on the target", (mode) => {
    const { world, roles } = phases({ ...land, settings: { finalize: { mode, into: null } } });
    expect(roles).toEqual([]);
    expect(world.commands()).toEqual(["gate:1:test", "gate:1:lint"]);
    expect(world.history.flatMap((effect) => (effect.kind === "land" ? [effect.op] : []))).toEqual([
      "propose",
      "commit",
    ]);
    expect(world.finished()).toMatchObject({ status: "success", message: "Landed by hand" });
  });

  it.each<[ItemStatus, string]>([
    ["failed", "give-back"],
    ["waiting_for_response", "give-back"],
    ["quarantined", "give-back"],
    ["available", "release"],
  ])("refused, an item that was %s is that again (%s)", (was, op) => {
    const { world, told } = phases(land, { command: broken, tracker: () => ({ was }) });
    expect(world.finished()).toMatchObject({ status: "failed", error: "gate_failed" });
    expect(told).toBe(op);
  });

  it.each<[string, Rules, string[]]>([
    [
      "by the gate",
      { left: { dirtyCount: 1, dirty: ["a"], filesTree: "x" } },
      ["test failed open", "Uncommitted changes superseded"],
    ],
    ["by the same failure", { command: broken }, ["test failed open"]],
    [
      "by a conflict",
      { land: () => ({ type: "conflict", tip: "t", files: ["a"] }) },
      ["test failed open", "Conflict with main superseded"],
    ],
  ])("refused %s, it leaves the findings as they were", (_how, rules, expected) => {
    const earlier = play({ options: { only: "check" } }, { command: broken }).life.ledger;
    const world = new World(policyOf(land), start, earlier).play(rules);
    const titles = world.life.ledger.findings.map(({ title, status }) => `${title.split(":")[0]} ${status}`);
    expect([world.finished()?.status, titles]).toEqual(["failed", expected]);
  });

  it.each<[string, Rules]>([
    ["a gate", { command: broken }],
    ["a merge", { land: () => ({ type: "conflict", tip: "t", files: ["a"] }) }],
  ])(
    "refused by %s that was waived or resolved before, or by one that is open, it changes no known finding",
    (_by, rules) => {
      const found = play({ options: { only: "check" } }, rules).life.ledger;
      const ids = found.findings.map(({ id }) => id);
      const waived = waive(found, { ids, reason: "flaky, known", at: 5 }).ledger;
      const resolved = resolveFindings(found, { ids, at: 5, commit: "c1" }).ledger;
      for (const ledger of [found, waived, resolved]) {
        const world = new World(policyOf(land), start, ledger).play(rules);
        expect(world.finished()?.status).toBe("failed");
        expect(world.life.ledger).toEqual(ledger);
      }
    },
  );

  it("what is no longer checked stays as it is when it is refused, and is closed when it lands", () => {
    const review = panelOf("style");
    const blocks: Rules = { review: () => failWith(remark("Ugly", 0)) };
    const { ledger } = play({ review, options: { only: "check" } }, blocks).life;
    const refused = new World(policyOf(land), start, ledger).play({ command: broken });
    expect(refused.life.ledger.findings[0]).toEqual(ledger.findings[0]);
    const landed = new World(policyOf(land), start, ledger).play();
    expect(landed.life.ledger.findings).toMatchObject([{ status: "superseded", reason: "no longer checked" }]);
  });

  it("closed by somebody before it is on the line, it does not land, and leaves the findings as they were", () => {
    const earlier = play({ options: { only: "check" } }, { command: broken }).life.ledger;
    const proposed = { type: "proposed", tip: "c0", commit: "m1", tree: "merged", merged: true } as const;
    const rules: Rules = {
      land: ({ op }) => (op === "commit" ? { type: "closed" } : proposed),
      tracker: () => ({ was: "failed" }),
    };
    const world = new World(policyOf(land), start, earlier).play(rules);
    expect(world.finished()).toMatchObject({ status: "interrupted", error: "closed", commit: null });
    expect(world.life.ledger).toEqual(earlier);
  });

  it.each<[string, Parameters<typeof canBeTakenAway>, boolean]>([
    ["an issue of a run", [{}, { options: {} }], true],
    ["one that is checked alone", [{}, { options: { only: "check" } }], true],
    ["one that is landed by hand", [{ was: "failed" }, { options: { only: "land" } }], true],
    ["one that was completed before its landing by hand", [{}, { options: { only: "land" } }], false],
    ["a trigger of the run", [{}, { trigger: "run_end", options: {} }], false],
  ])("somebody can take away %s: %#", (_what, [state, policy], expected) => {
    expect(canBeTakenAway(state, policy)).toBe(expected);
  });

  it("landed, it closes what the gate no longer finds", () => {
    const earlier = play({ options: { only: "check" } }, { command: broken }).life.ledger;
    const world = new World(policyOf(land), start, earlier).play();
    expect(world.finished()?.status).toBe("success");
    expect(world.life.ledger.findings.map(({ status }) => status)).toEqual(["resolved"]);
  });
});
