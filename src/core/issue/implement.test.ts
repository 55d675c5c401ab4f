import { describe, expect, it } from "vitest";
import type { TurnEffect } from "./effects.js";
import type { TurnEnded, TurnOutcome } from "./events.js";
import { play, policyOf, snapshot, start, World } from "./fixture.js";

const sent = (turns: readonly TurnEffect[]) => turns.map(({ prompt, session, attempt }) => [prompt, session, attempt]);
const times = (n: number, outcome: TurnOutcome, patch: Partial<TurnEnded> = {}) => ({
  implement: (_: TurnEffect, turn: number) => (turn <= n ? { outcome, ...patch } : {}),
});

describe("claiming and preparing", () => {
  it("a lost claim leaves no record", () => {
    const world = play({}, { tracker: () => ({ ok: false, lost: true, reason: "taken" }) });
    expect(world.reports).toEqual([]);
    expect(world.life.state).toMatchObject({ phase: "done", ending: { status: "not-claimed" }, trackerOwed: false });
  });

  it("a tracker that does not answer is no work lost in silence: the run must exit 3", () => {
    const world = play({}, { tracker: () => ({ ok: false, lost: false, reason: "down" }) });
    expect(world.life.state).toMatchObject({ ending: { status: "not-claimed" }, trackerOwed: true });
    expect(world.reports).toMatchObject([{ type: "log", level: "error", text: "It could not be claimed: down" }]);
  });

  it("setup runs once in a new worktree, and its failure ends the issue before any turn", () => {
    const commands = {
      ...policyOf().settings.commands,
      setup: { command: "npm ci", timeout: 900, allow_fail: false, exclusive: false },
    };
    const good = play({ settings: { commands } });
    expect(good.commands()[0]).toBe("setup");
    expect(good.finished()?.status).toBe("success");
    const ended = { exitCode: 1, digest: "no network", seconds: 2, outputPath: "/r/01-setup" };
    const bad = play({ settings: { commands } }, { command: () => ended });
    const message = "setup failed: exit 1: no network; Duration: 2.0 s; Run again: npm ci; Full output: /r/01-setup";
    expect(bad.finished()).toMatchObject({ status: "failed", error: "setup_failed", message });
    expect(bad.turns()).toEqual([]);
  });

  it("a worktree that breaks fails the issue", () => {
    const world = new World(policyOf());
    world.arrive({ type: "started" });
    world.arrive({ type: "tracker-done", key: "tracker:claim", ok: true });
    world.arrive({ type: "crashed", key: "worktree:open", effect: "worktree", message: "disk full" });
    world.goOn();
    expect(world.finished()).toMatchObject({ status: "failed", error: "worktree_failed" });
  });

  it("a turn whose performer broke is not told as the agent's failure", () => {
    const key = "turn:implementer:1";
    const message = "the git folder is damaged";
    const before = (world: World) => {
      if (world.owed.has(key)) world.arrive({ type: "crashed", key, effect: "turn", message });
      return null;
    };
    expect(play({}, { before }).finished()).toMatchObject({
      error: "agent_failed",
      message: `The turn could not be brought to its end: ${message}`,
    });
  });
});

describe("a turn that does not end by itself", () => {
  it.each<[TurnOutcome, string]>([
    [{ type: "failed", reason: "exit 1" }, "agent_failed"],
    [{ type: "timed-out" }, "turn_timeout"],
    [{ type: "idle" }, "idle_timeout"],
    [{ type: "lost" }, "agent_lost"],
    [{ type: "transient", reason: "busy" }, "transient_exhausted"],
    [{ type: "limited", until: null, reason: "limit" }, "transient_exhausted"],
    [{ type: "no-session" }, "agent_failed"],
  ])("%j for good fails the issue as %s, with no gate", (outcome, error) => {
    const world = play({}, times(99, outcome, { sessionId: null }));
    expect(world.finished()).toMatchObject({ status: "failed", error });
    expect(world.reported("gate-started")).toEqual([]);
    expect(world.history.some((effect) => effect.kind === "tracker" && effect.op === "fail")).toBe(true);
  });

  it("exit 75 waits by the list and repeats prompt, session and attempt in a new folder", () => {
    const world = play({}, times(2, { type: "transient", reason: "busy" }));
    expect(sent(world.turns())).toEqual([
      ["implementer", null, 1],
      ["implementer", "s1", 1],
      ["implementer", "s1", 1],
    ]);
    expect(world.turns().map((turn) => turn.folder)).toEqual(["01-implementer", "02-implementer", "03-implementer"]);
    expect(world.finished()?.status).toBe("success");
  });

  it("a usage limit is waited out until its end, said so, then the session goes on", () => {
    const world = play({}, times(1, { type: "limited", until: 9_000_000, reason: "5 h" }));
    expect(world.reported("waiting")).toMatchObject([{ until: 9_000_000 }]);
    expect(sent(world.turns())).toEqual([
      ["implementer", null, 1],
      ["continue", "s1", 1],
    ]);
    expect(world.at).toBeGreaterThanOrEqual(9_000_000);
  });

  it("a limit without an end is tried again by the list, then every 15 minutes up to 6 hours", () => {
    const world = play({}, times(99, { type: "limited", until: null, reason: "limit" }));
    expect(world.turns()).toHaveLength(1 + 2 + 24);
    expect(world.finished()?.error).toBe("transient_exhausted");
  });

  it("silence is continued twice on one turn clock", () => {
    const world = play({}, times(2, { type: "idle" }, { until: 77 }));
    expect(sent(world.turns()).map(([prompt]) => prompt)).toEqual(["implementer", "continue", "continue"]);
    expect(world.turns().map((turn) => turn.until)).toEqual([null, 77, 77]);
    expect(world.turns()[2]?.continues).toBe("02-continue");
  });

  it("a lost agent is continued in its session, or sent the same prompt when it left no id", () => {
    expect(sent(play({}, times(1, { type: "lost" })).turns())[1]).toEqual(["continue", "s1", 1]);
    expect(sent(play({}, times(1, { type: "lost" }, { sessionId: null })).turns())[1]).toEqual([
      "implementer",
      null,
      1,
    ]);
    expect(play({}, times(3, { type: "lost" })).finished()?.status).toBe("success");
  });

  it.each<TurnOutcome>([
    { type: "idle" },
    { type: "lost" },
    { type: "stopped" },
    { type: "limited", until: null, reason: "limit" },
  ])("what ended it goes along with its continue, through a back-off, too: %j", (outcome) => {
    const busy: TurnOutcome = { type: "transient", reason: "busy" };
    const ends = (n: number) => (n === 1 ? { outcome } : n === 2 ? { outcome: busy } : {});
    const turns = play({}, { implement: (_, n) => ends(n) }).turns();
    expect(turns.map(({ prompt, interrupted }) => [prompt, interrupted])).toEqual([
      ["implementer", undefined],
      ["continue", outcome.type],
      ["continue", outcome.type],
    ]);
  });

  it("a session forgotten within the run is replaced once by a new one with the same prompt", () => {
    const world = play(
      { options: { strict: true } },
      {
        command: (effect) => ({ exitCode: effect.key.startsWith("gate:1") ? 1 : 0 }),
        implement: (turn) => (turn.session === null ? {} : { outcome: { type: "no-session" }, sessionId: null }),
      },
    );
    expect(sent(world.turns())).toEqual([
      ["implementer", null, 1],
      ["gate_followup", "s1", 2],
      ["gate_followup", null, 2],
    ]);
    expect(world.finished()?.status).toBe("success");
  });

  it("exit 66 of a turn that was sent no session is a failure, whatever id the agent has told meanwhile", () => {
    const world = play({}, times(9, { type: "no-session" }, { sessionId: "s9" }));
    expect(sent(world.turns())).toEqual([["implementer", null, 1]]);
    expect(world.finished()).toMatchObject({ status: "failed", error: "agent_failed" });
  });

  it("an issue over its budget escalates when its turn has ended", () => {
    const budgets = { issue: { usd: 1, tokens: null, minutes: null }, run: { usd: null, tokens: null, minutes: null } };
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 2 };
    const world = play({ settings: { budgets } }, { implement: () => ({ usage, snapshot: snapshot(1) }) });
    expect(world.finished()).toMatchObject({ status: "escalated", error: "budget" });
    expect(world.reported("escalated")).toHaveLength(1);
    expect(world.history.some((effect) => effect.kind === "tracker" && effect.op === "escalate")).toBe(true);
  });
});

describe("a resumed life", () => {
  it("A3 without findings gets the implementer prompt into the restored session", () => {
    const resume = { runId: "run-1", sessionId: "old", blocking: [], baseSha: "c0", seen: null };
    const world = new World(policyOf(), { ...start, resume }).play();
    expect(sent(world.turns())).toEqual([["implementer", "old", 1]]);
    expect(world.reported("log")).toEqual([]);
  });
});
