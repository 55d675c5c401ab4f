import { describe, expect, it } from "vitest";
import type { EndingWord, IssueSignal } from "./events.js";
import { failWith, panelOf, play, policyOf, type Rules, remark, type Setup, World } from "./fixture.js";

/** Sends the signal when an effect with this key is first owed. */
function when(key: string, signal: IssueSignal, rules: Rules = {}): Rules {
  let sent = false;
  const before = (world: World) => {
    if (sent || !world.owed.has(key)) return null;
    sent = true;
    return signal;
  };
  return { ...rules, before };
}
const drain: IssueSignal = { name: "drain" };
const abort: IssueSignal = { name: "abort" };
const neverBegun = () => ({ outcome: { type: "stopped" }, unbegun: true }) as const;
const stop: IssueSignal = { name: "stop" };
const ended = (world: World) => world.reported("session-end-completed").at(-1)?.session_end_result;
const ops = (world: World) =>
  world.history.flatMap((effect) => (effect.kind === "tracker" || effect.kind === "worktree" ? [effect.op] : []));
const stops = (world: World) =>
  world.history.flatMap((effect) => (effect.kind === "stop" ? [[effect.folder, effect.how]] : []));
const both: Setup = { review: {}, sessionEnd: {} };

describe("drain", () => {
  it("C10 during command 1 of 3: it ends, 2 and 3 do not run, the review runs and the issue is finalized", () => {
    const world = play(both, when("session_end:03:one", drain));
    expect(ended(world)).toMatchObject({
      status: "interrupted",
      reason: "SIGINT received",
      commands: [{ ref: "one", passed: true }],
    });
    expect(world.reported("review-started")).toHaveLength(1);
    expect(world.finished()?.status).toBe("success");
  });

  it("a session_end entered afterwards is interrupted with no command; interruption beats failure_mode", () => {
    const world = play({ review: {}, sessionEnd: { failure_mode: "abort" } }, when("gate:1:test", drain));
    expect(ended(world)).toMatchObject({ status: "interrupted", reason: "SIGINT received", commands: [] });
    expect(world.finished()?.status).toBe("success");
    const failing = { command: () => ({ exitCode: 1 }) };
    const beaten = play(
      { settings: { evidence_check: { required: [] } }, sessionEnd: { failure_mode: "abort" } },
      when("session_end:03:one", drain, failing),
    );
    expect(ended(beaten)).toMatchObject({ status: "interrupted", commands: [{ ref: "one", passed: false }] });
    expect(beaten.finished()?.status).toBe("success");
  });

  it.each(["continue", "abort", "remediate"] as const)("what it leaves under %s says that it was cut short", (mode) => {
    const world = play(
      { settings: { evidence_check: { required: [] } }, sessionEnd: { failure_mode: mode, max_retries: 2 } },
      when("session_end:03:one", drain, { command: () => ({ exitCode: 1 }) }),
    );
    expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason: "session_end: interrupted" }]);
  });

  it("follow-up turns go on, fixers are not started", () => {
    const world = play(
      { review: { failure_mode: "remediate", max_retries: 2 } },
      when("turn:implementer:1", drain, { review: () => failWith(remark("Wrong", 0)) }),
    );
    expect(world.turns().filter((turn) => turn.role === "implementer")).toHaveLength(2);
    expect(world.turns().some((turn) => turn.role === "fixer")).toBe(false);
    expect(world.finished()?.error).toBe("review_failed");
  });

  it("an issue that is only being claimed does not start", () => {
    const world = play({}, when("tracker:claim", drain));
    expect(world.reports).toEqual([]);
    expect(world.history.some((effect) => effect.kind === "tracker" && effect.op === "release")).toBe(true);
    expect(world.life.state.ending?.status).toBe("not-claimed");
  });
});

describe("a run that was told to end, before the signal of it is there", () => {
  /** From the moment in which this is first owed. */
  const toldAt = (key: string, rules: Rules = {}, word: EndingWord = "drain"): Rules => ({
    ...rules,
    before: (world) => {
      if (world.owed.has(key)) world.ending = word;
      return null;
    },
  });
  it.each(["drain", "abort", "stop"] as const)("C11 an issue that is not claimed yet is not claimed (%s)", (word) => {
    const world = new World(policyOf({}));
    world.ending = word;
    world.play();
    expect([world.history, world.reports, world.life.state.ending?.status]).toEqual([[], [], "not-claimed"]);
  });

  it.each(["drain", "abort", "stop"] as const)(
    "C11 one that is just being claimed is given back, and leaves no trace (%s)",
    (word) => {
      const world = play({}, toldAt("tracker:claim", {}, word));
      expect([world.reports, ops(world), world.life.state.ending?.status]).toEqual([
        [],
        ["claim", "release"],
        "not-claimed",
      ]);
    },
  );

  const setup = { command: "npm ci", timeout: 900, allow_fail: false, exclusive: false };
  it.each([
    ["its worktree is made", "worktree:open", []],
    ["its setup runs", "setup", ["setup"]],
  ])("one whose first prompt was not sent when %s gets none: it is free again, and resumable", (_, key, commands) => {
    const settings = { commands: { setup }, evidence_check: { required: [] } };
    const world = play({ settings }, toldAt(key));
    expect([world.turns(), world.commands(), ops(world)]).toEqual([[], commands, ["claim", "open", "release"]]);
    expect(world.finished()).toMatchObject({ status: "interrupted", error: null });
  });

  it("a first prompt that no agent has got yet is taken back", () => {
    const world = play({}, toldAt("turn:implementer:1", { implement: neverBegun }));
    expect(world.turns()).toHaveLength(1);
    expect(world.reported("log").at(-1)?.text).toContain("was not sent after all: the run was told to end");
    expect(world.finished()).toMatchObject({ status: "interrupted", error: null });
  });

  it("C11 one that is in a command of session_end is interrupted by an abort as by its signal", () => {
    const world = play(both, toldAt("session_end:03:one", {}, "abort"));
    expect(ended(world)).toMatchObject({ status: "interrupted", reason: "run_aborted", commands: [{ ref: "one" }] });
    expect(world.finished()).toMatchObject({ status: "failed", error: "run_aborted" });
  });

  it.each(["continue", "abort"] as const)(
    "C15 one that was killed in a command of session_end and stopped before it is taken up does not land (%s)",
    (mode) => {
      const kill = (world: World) => {
        if (!world.owed.has("session_end:03:one") || world.ending) return null;
        world.ending = "stop";
        return "resumed" as const;
      };
      const world = play({ sessionEnd: { failure_mode: mode } }, { before: kill });
      expect(world.history.some(({ kind }) => kind === "land")).toBe(false);
      expect(world.finished()).toMatchObject({ status: "interrupted", commit: null });
    },
  );

  it("a failing command of session_end gets no fixer", () => {
    const world = play(
      { settings: { evidence_check: { required: [] } }, sessionEnd: { failure_mode: "remediate", max_retries: 2 } },
      toldAt("session_end:03:one", { command: () => ({ exitCode: 1 }) }),
    );
    expect(ended(world)).toMatchObject({
      status: "interrupted",
      reason: "SIGINT received",
      commands: [{ ref: "one" }],
    });
    expect(world.turns().map(({ role }) => role)).toEqual(["implementer"]);
    expect(world.finished()?.status).toBe("success");
  });
});

describe("abort", () => {
  it("C11 in a command of session_end: it ends by itself, interrupted run_aborted, no reviewer, failed", () => {
    const world = play(both, when("session_end:03:one", abort));
    expect(ended(world)).toMatchObject({ status: "interrupted", reason: "run_aborted", commands: [{ ref: "one" }] });
    expect(stops(world)).toEqual([]);
    expect(world.reported("review-started")).toEqual([]);
    expect(world.finished()).toMatchObject({ status: "failed", error: "run_aborted" });
    expect(world.life.state.abortRun).toBe(false);
  });

  it("a turn gets its clean signal; its work and session are kept", () => {
    const world = play({}, when("turn:implementer:1", abort, { implement: () => null }));
    expect(stops(world)).toEqual([["01-implementer", "clean"]]);
    expect(world.finished()).toMatchObject({ status: "failed", error: "run_aborted", session_id: "s1" });
    expect(world.reported("gate-started")).toEqual([]);
  });

  it.each([
    ["its worktree is made", "worktree:open", {}],
    ["its turn waits for a place", "turn:implementer:1", { implement: neverBegun }],
  ])(
    "C11 one whose first prompt was not sent when %s never starts: it is free again, and has not failed",
    (_, key, rules) => {
      const world = play({}, when(key, abort, rules));
      expect(ops(world)).toEqual(["claim", "open", "release"]);
      const { message } = world.finished() ?? {};
      expect([world.finished()?.status, message]).toEqual([
        "interrupted",
        "The run was aborted before its first prompt; resumable",
      ]);
    },
  );

  it("reviewers are stopped, and the findings of those that had finished stay", () => {
    const rules: Rules = { review: (turn) => (turn.slot === "b" ? null : failWith(remark("Wrong", 0))) };
    let sent = false;
    const world = play(
      { review: panelOf("a", "b") },
      {
        ...rules,
        before: (w) => {
          if (sent || w.life.ledger.findings.length === 0) return null;
          sent = true;
          return abort;
        },
      },
    );
    expect(stops(world)).toEqual([["04-review-b", "clean"]]);
    expect(world.finished()).toMatchObject({ status: "failed", error: "run_aborted" });
    expect(world.finished()?.last_review_issues).toHaveLength(1);
  });

  it("a round none of whose reviewers was called is no attempt; one that was begun is", () => {
    const aborted = (unbegun?: true) => {
      const rules: Rules = { review: () => ({ outcome: { type: "stopped" }, ...(unbegun ? { unbegun } : {}) }) };
      return play(both, when("review:command:round-1:try-1", abort, rules)).finished();
    };
    expect(aborted(true)).toMatchObject({ error: "run_aborted", counters: { review_attempts: 0 } });
    expect(aborted()).toMatchObject({ error: "run_aborted", counters: { review_attempts: 1 } });
  });

  it("a landing goes on; a conflict then ends it", () => {
    expect(play({}, when("land:propose:1", abort)).finished()).toMatchObject({ status: "success", commit: "c1" });
    const torn = play({}, when("land:propose:1", abort, { land: () => ({ type: "conflict", tip: "t", files: [] }) }));
    expect(torn.finished()).toMatchObject({ status: "failed", error: "run_aborted" });
  });

  it("a back-off is not waited for", () => {
    const rules: Rules = { implement: () => ({ outcome: { type: "transient", reason: "busy" } }) };
    const world = play({}, when("timer:backoff:1", abort, rules));
    expect(world.turns()).toHaveLength(1);
    expect(world.finished()?.error).toBe("run_aborted");
  });
});

describe("stop", () => {
  it.each([
    ["turn:implementer:1", [["01-implementer", "clean"]]],
    ["gate:1:test", [["02-gate/test", "patient"]]],
    ["session_end:03:one", [["03-session_end/one", "patient"]]],
    ["review:command:round-1:try-1", [["04-review-command", "clean"]]],
  ])("at %s: wound down, interrupted, released, nothing landed", (key, told) => {
    const hang = { implement: () => (key.startsWith("turn") ? null : {}), review: () => null };
    const world = play(both, when(key, stop, { ...hang, command: (effect) => (effect.key === key ? null : {}) }));
    expect(stops(world)).toEqual(told);
    expect(world.finished()).toMatchObject({ status: "interrupted", commit: null });
    expect(world.history.some((effect) => effect.kind === "tracker" && effect.op === "release")).toBe(true);
    expect(world.history.some((effect) => effect.kind === "land")).toBe(false);
  });

  it("a proposed landing is not committed, but one being committed finishes", () => {
    expect(play({}, when("land:propose:1", stop)).finished()?.status).toBe("interrupted");
    expect(play({}, when("land:commit:1", stop)).finished()).toMatchObject({ status: "success", commit: "c1" });
  });

  it("after an abort it only hurries: the ending stays run_aborted", () => {
    const hang: Rules = { command: (effect) => (effect.key === "gate:1:test" ? null : {}) };
    const world = play(both, when("gate:1:test", abort, hang));
    expect(world.life.state.phase).toBe("gating");
    world.signal(stop);
    world.goOn(hang);
    expect(stops(world)).toEqual([["02-gate/test", "patient"]]);
    expect(world.finished()).toMatchObject({ status: "failed", error: "run_aborted" });
  });
});

describe("a check that fails while the life is wound down", () => {
  const merged: Rules = { land: () => ({ type: "proposed", tip: "c9", commit: "m1", tree: "mt1", merged: true }) };
  const found = (world: World) => world.life.ledger.findings.map(({ title, status }) => [title, status]);

  it.each([
    ["session_end:03:one", stop, {}],
    ["session_end:03:one", abort, {}],
    ["gate:1:test", stop, {}],
    ["gate:1:test", abort, {}],
    ["landing:1:test", stop, merged],
  ] as const)("%s ends by itself after %j: its finding is open, nothing else follows", (key, signal, rules) => {
    const command: Rules["command"] = (effect) => (effect.key === key ? { exitCode: 3, digest: "BOOM" } : {});
    const world = play(both, when(key, signal, { ...rules, command }));
    expect(found(world)).toEqual([[`${key.split(":").at(-1)} failed: exit 3: BOOM`, "open"]]);
    expect(world.commands().at(-1)).toBe(key);
    expect(world.finished()?.error).toBe(signal === abort ? "run_aborted" : null);
  });

  it.each(["session_end:03:one", "gate:1:test", "landing:1:test"])("%s is ended by a stop: that is none", (key) => {
    const command: Rules["command"] = (effect) => (effect.key === key ? null : {});
    expect(found(play(both, when(key, stop, { ...merged, command })))).toEqual([]);
  });

  it("one that may fail is told and no finding", () => {
    const one = { command: "run one", timeout: 60, allow_fail: true, exclusive: false };
    const settings = { commands: { one }, evidence_check: { required: [] } };
    const command: Rules["command"] = () => ({ exitCode: 3, digest: "BOOM" });
    const world = play({ settings, sessionEnd: {} }, when("session_end:03:one", stop, { command }));
    expect([found(world), world.reported("log").map(({ text }) => text)]).toEqual([
      [],
      ["one failed, which is allowed: BOOM"],
    ]);
    expect(ended(world)).toMatchObject({ status: "interrupted", commands: [{ passed: false, allowed: true }] });
  });
});

describe("the tracker takes long", () => {
  /** Does that when the effect with this key is first owed. */
  const once = (key: string, act: (world: World) => void): Rules => {
    let done = false;
    const before = (world: World) => {
      if (!done && world.owed.has(key)) {
        done = true;
        act(world);
      }
      return null;
    };
    return { before };
  };

  it("it is said as long as it is waited for, and a stop after the ending was decided hurries it", () => {
    const states: unknown[] = [];
    const act = (world: World) => {
      world.signal({ name: "slow", key: "tracker:claim", call: "bd update x" });
      world.signal({ name: "slow", key: "tracker:complete", call: "bd close x" });
      states.push(world.life.state.hurry);
      world.signal(stop);
      states.push(world.life.state.hurry, world.life.state.phase);
    };
    const world = play({}, once("tracker:complete", act));
    expect(world.reported("waiting")).toMatchObject([{ for: "the tracker's answer to bd close x", until: null }]);
    expect([...states, world.finished()?.status]).toEqual([false, true, "closing", "success"]);
  });

  it("what a stop ended is stopped, not a tracker that is away", () => {
    const key = "turn:implementer:1";
    const act = (world: World) => {
      world.signal(stop);
      world.arrive({ type: "crashed", key, effect: "turn", message: "bd show gave no answer", trackerAway: true });
    };
    const world = play({}, once(key, act));
    expect(world.finished()).toMatchObject({ status: "interrupted", error: null });
    expect(world.life.state.trackerOwed).toBe(false);
  });
});

describe("the issue is gone", () => {
  it.each<[string, Setup]>([
    ["turn:implementer:1", {}],
    ["review:b:round-1:try-1", { review: panelOf("a", "b") }],
  ])("when %s needs it: interrupted, and nobody is owed anything", (key, setup) => {
    let sent = false;
    const before = (world: World) => {
      if (sent || !world.owed.has(key)) return null;
      sent = true;
      world.arrive({ type: "crashed", key, effect: "turn", message: "it is no longer there", issueGone: true });
      return null;
    };
    const world = play(setup, { before });
    expect(world.finished()).toMatchObject({ status: "interrupted", error: "closed", commit: null });
    expect([world.life.state.trackerOwed, world.reported("log").at(0)?.text]).toEqual([
      false,
      expect.stringContaining("was not sent after all: it is no longer there"),
    ]);
  });
});

describe("the tracker is away", () => {
  it.each<[string, string, Setup]>([
    ["turn:implementer:1", "turn", {}],
    ["land:propose:1", "land", {}],
    ["review:b:round-1:try-1", "turn", { review: panelOf("a", "b") }],
  ])("when %s needs it: interrupted, resumable and released, whatever else still runs", (key, effect, setup) => {
    let sent = false;
    const before = (world: World) => {
      if (sent || !world.owed.has(key)) return null;
      sent = true;
      world.arrive({ type: "crashed", key, effect, message: "bd show failed", trackerAway: true });
      return null;
    };
    const world = play(setup, { before });
    expect(world.finished()).toMatchObject({ status: "interrupted", error: "tracker_unreachable", commit: null });
    expect(world.life.state.trackerOwed).toBe(true);
    const unsent = world.reported("log").filter(({ text }) => text.includes("was not sent"));
    const folder = world.history.flatMap((one) => (one.kind === "turn" && one.key === key ? [one.folder] : []))[0];
    const text = `The prompt of ${folder} was not sent after all: bd show failed`;
    expect(unsent).toMatchObject(effect === "turn" ? [{ level: "warn", text }] : []);
    expect(world.history.some((one) => one.kind === "tracker" && one.op === "release")).toBe(true);
  });
});
