import { describe, expect, it } from "vitest";
import type { AgentChoice, Settings } from "../settings.js";
import type { TurnEffect } from "./effects.js";
import type { TurnEnded, TurnOutcome } from "./events.js";
import { play, policyOf, World } from "./fixture.js";

const { agent } = policyOf().settings;
const codex: AgentChoice = { type: "codex", model: "m2", effort: null, command: [], env: [] };
const withFallback = (fallback: AgentChoice): Partial<Settings> => ({ agent: { ...agent, fallback } });
const sent = (turns: readonly TurnEffect[]) =>
  turns.map(({ prompt, session, fallback }) => [prompt, session, fallback ?? false]);
const times = (n: number, outcome: TurnOutcome, patch: Partial<TurnEnded> = {}) => ({
  implement: (_: TurnEffect, turn: number) => (turn <= n ? { outcome, ...patch } : {}),
});

describe("agent.fallback", () => {
  it.each<[string, TurnOutcome, number]>([
    ["a usage limit", { type: "limited", until: 9e12, reason: "5 h" }, 1],
    ["an agent that stays away", { type: "transient", reason: "529" }, 1 + agent.backoff_seconds.length],
  ])("takes over at once after %s, in a session of its own, and says so", (_, outcome, turns) => {
    const world = play({ settings: withFallback(codex) }, times(turns, outcome));
    expect(world.reported("agent-changed")).toMatchObject([{ agent: "codex", model: "m2" }]);
    const all = sent(world.turns());
    expect(all[turns - 1]?.[2]).toBe(false);
    expect(all[turns]).toEqual(["implementer", null, true]);
    expect(world.finished()?.status).toBe("success");
  });

  it("goes on in the same session when only the model is another", () => {
    const world = play(
      { settings: withFallback({ ...codex, type: agent.type }) },
      times(1, { type: "limited", until: null, reason: "5 h" }),
    );
    expect(sent(world.turns()).slice(0, 2)).toEqual([
      ["implementer", null, false],
      ["continue", "s1", true],
    ]);
  });

  it("is used once: what stops it too is waited for", () => {
    const world = play(
      { settings: withFallback(codex) },
      times(2, { type: "limited", until: 9_000_000, reason: "5 h" }),
    );
    expect(world.reported("agent-changed")).toHaveLength(1);
    expect(world.reported("waiting")).toMatchObject([{ until: 9_000_000 }]);
    expect(sent(world.turns()).slice(1)).toEqual([
      ["implementer", null, true],
      ["continue", "s1", true],
    ]);
  });
});

describe("a conversation that no longer fits", () => {
  const overflow: TurnOutcome = { type: "overflow", reason: "200000 tokens" };
  it("goes on once in a new session with the same prompt", () => {
    const world = play({}, times(1, overflow));
    expect(sent(world.turns())).toEqual([
      ["implementer", null, false],
      ["implementer", null, false],
    ]);
    expect(world.finished()?.status).toBe("success");
  });
  it("fails the issue the second time", () => {
    expect(play({}, times(9, overflow)).finished()).toMatchObject({ status: "failed", error: "context_overflow" });
  });
});

describe("a session that is told while the turn runs", () => {
  const begun = () => {
    const world = new World(policyOf());
    world.arrive({ type: "started" });
    world.arrive({ type: "tracker-done", key: "tracker:claim", ok: true });
    const [path, branch, sha] = ["/w", "ratchet/p-1", "b0"];
    const opened = { path, branch, baseSha: sha, head: sha, tree: "t0", fresh: false, targetTip: sha };
    world.arrive({ type: "worktree-ready", key: "worktree:open", ...opened });
    const turn = world.turns()[0];
    if (!turn) throw new Error("no turn");
    return { world, turn };
  };
  const signalKey = (world: World) => world.life.state.owed.find(({ kind }) => kind === "wait")?.key ?? "";
  const tell = (world: World, turn: string, id: string) =>
    world.arrive({ type: "signal", key: signalKey(world), signal: { name: "session", turn, id } });

  it("is known at once, and told once", () => {
    const { world, turn } = begun();
    tell(world, turn.key, "s-9");
    tell(world, turn.key, "s-9");
    expect(world.life.state).toMatchObject({ session: "s-9", turn: { session: "s-9" } });
    expect(world.reported("session-known")).toMatchObject([{ session_id: "s-9", role: "implementer" }]);
  });

  it("is ignored when it comes from a turn that nobody waits for", () => {
    const { world } = begun();
    tell(world, "turn:other:7", "s-9");
    expect(world.life.state.session).toBeNull();
  });
});
