import { describe, expect, it } from "vitest";
import type { CommandEffect } from "./effects.js";
import { failWith, pass, play, policyOf, type Rules, remark, type Setup, World } from "./fixture.js";

const npmCi = { command: "npm ci", timeout: 900, allow_fail: false, exclusive: false };
const settings = { commands: { ...policyOf().settings.commands, setup: npmCi } };
const remediate = { failure_mode: "remediate", max_retries: 1 } as const;
/** The first of its commands fails the first time, so that a fixer is sent. */
const failsOnce =
  (setsUpAgain: Partial<{ exitCode: number }> | null = {}): NonNullable<Rules["command"]> =>
  ({ stage, key, folder }: CommandEffect) => {
    if (key.startsWith("setup:")) return setsUpAgain;
    return { exitCode: stage !== "setup" && stage !== "gate" && folder.startsWith("04-") ? 1 : 0 };
  };
const lastOf = (world: World, count: number) => world.commands().slice(-count);

describe("where the worktree was made anew in the middle of a life", () => {
  it.each([
    ["an issue", { sessionEnd: remediate }],
    ["a trigger of the run", { runEnd: remediate }],
  ] as [string, Setup][])("setup runs there before the commands of %s, and before the gate", (_, setup) => {
    const start = setup.runEnd ? { issueId: "", title: "run_end", life: 1, resume: null } : undefined;
    const folder = setup.runEnd ? "02-" : "04-";
    const world = new World(policyOf({ ...setup, settings }), start).play({
      remade: true,
      command: (effect) => ({ exitCode: effect.folder.startsWith(folder) ? 1 : 0 }),
    });
    const stage = setup.runEnd ? "run_end" : "session_end";
    const again = world.commands().findIndex((key) => key.startsWith("setup:"));
    expect(world.commands().slice(again - 1, again + 2)).toEqual([
      expect.stringMatching(`^${stage}:${folder.slice(0, 2)}:one$`),
      expect.stringMatching("^setup:"),
      expect.stringMatching(`^${stage}:\\d\\d:one$`),
    ]);
    expect(world.commands().filter((key) => key.startsWith("setup"))).toHaveLength(2);
    expect(world.life.state.ending).toMatchObject({ status: "success" });
  });

  it("by a reviewer: setup runs before it is asked again, and before the turn that follows", () => {
    const world = play(
      { review: {}, settings },
      {
        review: (_, n) =>
          n === 1 ? { ...failWith(), remade: true } : n === 2 ? { ...failWith(remark("Bug", 1)), remade: true } : pass,
      },
    );
    const order = world.history.flatMap((effect) =>
      effect.kind === "turn" || effect.key.startsWith("setup") ? [effect.key.replace(/:\d\d-setup$/, "")] : [],
    );
    expect(order).toEqual([
      ...["setup", "turn:implementer:1", "review:command:round-1:try-1", "setup", "review:command:round-1:try-2"],
      ...["setup", "turn:review_followup:2", "review:command:round-2:try-1"],
    ]);
  });

  it("by a command of the gate: setup runs before the next one", () => {
    const world = play(
      { settings },
      { command: ({ name, stage }, n) => (stage === "gate" && name === "test" && n === 2 ? { remade: true } : {}) },
    );
    expect(lastOf(world, 3)).toEqual(["gate:1:test", expect.stringMatching("^setup:"), "gate:1:lint"]);
    expect(world.finished()?.status).toBe("success");
  });

  it("a setup that fails there fails the issue by its name, and its session_end has not passed", () => {
    const world = play({ sessionEnd: remediate, settings }, { remade: true, command: failsOnce({ exitCode: 1 }) });
    expect(world.finished()).toMatchObject({ status: "failed", error: "setup_failed" });
    expect(world.reported("session-end-completed")).toMatchObject([{ result: "fail", reason: "setup_failed" }]);
  });

  it("a Ratchet that died meanwhile runs it again, and session_end goes on where it was, within its own time", () => {
    const world = play({ sessionEnd: remediate, settings }, { remade: true, command: failsOnce(null) });
    const { length } = world.history;
    world.arrive({ type: "resumed" });
    world.at += 10_000_000;
    expect([world.history.length, [...world.owed.values()].some(({ kind }) => kind === "timer")]).toEqual([
      length,
      false,
    ]);
    world.goOn({ command: failsOnce() });
    expect(world.finished()).toMatchObject({ status: "success", counters: { session_end_attempts: 2 } });
    expect(world.reported("session-end-completed")).toMatchObject([{ result: "pass" }]);
  });
});
