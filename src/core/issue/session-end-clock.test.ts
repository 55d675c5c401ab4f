import { describe, expect, it } from "vitest";
import { play, type Rules, type World } from "./fixture.js";

const key = "session_end:03:one";
const place = (world: World, has: boolean) => world.signal({ name: "place", key, has });
const timersOf = ({ owed }: World) => [...owed.values()].flatMap((one) => (one.kind === "timer" ? [one.until] : []));
const resultOf = (world: World) => world.reported("session-end-completed").map(({ result }) => result);

/** A session_end of ten seconds, whose first command waits for its turn after two of them. */
function whenWaiting(act: (world: World) => void, rules: Rules = {}): World {
  let isDone = false;
  const before: Rules["before"] = (world) => {
    if (isDone || !world.owed.has(key)) return null;
    isDone = true;
    world.at += 2000;
    place(world, false);
    act(world);
    return null;
  };
  return play({ sessionEnd: { timeout: 10 } }, { ...rules, before });
}

describe("while an exclusive command waits for its turn", () => {
  it("the clock of its trigger stands still, and goes on where it stood", () => {
    const left: number[] = [];
    const world = whenWaiting((waiting) => {
      expect(timersOf(waiting)).toEqual([]);
      waiting.at += 60_000;
      place(waiting, true);
      left.push(...timersOf(waiting).map((until) => until - waiting.at));
    });
    expect([left, resultOf(world)]).toEqual([[7999], ["pass"]]);
  });

  it("what has its turn runs out of time as ever", () => {
    const world = whenWaiting((waiting) => place(waiting, true), {
      command: ({ stage }) => (stage === "gate" ? {} : null),
    });
    expect(resultOf(world)).toEqual(["timeout"]);
  });

  it("one that ended before its turn was told leaves a clock that runs", () => {
    const hung: Rules = { command: ({ name }) => (name === "two" ? null : {}) };
    expect(resultOf(whenWaiting(() => undefined, hung))).toEqual(["timeout"]);
  });

  it.each(["stop", "abort"] as const)("after %s no clock is begun", (name) => {
    const world = whenWaiting((waiting) => {
      waiting.signal({ name });
      place(waiting, true);
      expect(timersOf(waiting)).toEqual([]);
    });
    expect(resultOf(world)).toEqual(["interrupted"]);
  });

  it.each([
    ["C10", "drain", "SIGINT received"],
    ["C11", "abort", "run_aborted"],
  ] as const)("%s after %s it does not begin", (_id, name, reason) => {
    const world = whenWaiting((waiting) => {
      waiting.signal({ name });
      expect(waiting.owed.has(key)).toBe(false);
    });
    expect(world.reported("session-end-completed")).toMatchObject([
      { result: "interrupted", session_end_result: { commands: [], reason } },
    ]);
  });

  it("a restart begins anew with all of its time", () => {
    const left: number[] = [];
    const world = whenWaiting((waiting) => {
      waiting.arrive({ type: "resumed" });
      place(waiting, true);
      left.push(...timersOf(waiting).map((until) => until - waiting.at));
    });
    expect([left, resultOf(world)]).toEqual([[9999], ["interrupted", "pass"]]);
  });
});

describe("while what was decided cannot be recorded", () => {
  /** The step that owes this command takes so long; then its clock, which has run out by then, is heard first. */
  function recordedLate(late: string, lateMs: number, rules: Rules = {}): World {
    let isDone = false;
    const before: Rules["before"] = (world) => {
      const timer = [...world.owed.values()].find((one) => one.kind === "timer");
      if (isDone || !world.owed.has(late) || !timer) return null;
      isDone = true;
      world.at += lateMs;
      world.lateMs = lateMs;
      world.arrive({ type: "timer-fired", key: timer.key });
      return null;
    };
    return play({ sessionEnd: { timeout: 10 } }, { ...rules, before });
  }

  it.each([key, "session_end:03:two"])("D3 the clock of a trigger stands still: %s has all its time", (late) => {
    const world = recordedLate(late, 25_000);
    expect(resultOf(world)).toEqual(["pass"]);
    expect(world.commands().filter((one) => one.startsWith("session_end"))).toHaveLength(3);
  });

  it("C9 what has begun then runs out of time as ever", () => {
    const world = recordedLate(key, 25_000, { command: ({ stage }) => (stage === "gate" ? {} : null) });
    expect(resultOf(world)).toEqual(["timeout"]);
    expect(world.at).toBeGreaterThanOrEqual(1_000_000 + 35_000);
  });
});
