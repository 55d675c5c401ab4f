import { describe, expect, it } from "vitest";
import type { CommandEffect } from "./effects.js";
import type { Snapshot, TurnEnded } from "./events.js";
import {
  failWith,
  noVerdict,
  play,
  policyOf,
  type Rules,
  remark,
  review,
  type Setup,
  snapshot,
  World,
} from "./fixture.js";

const one = { ref: "one", command: "run one", timeout: 60 };

const allowed = { command: "run one", timeout: 60, allow_fail: true, exclusive: false };

const failing = (...names: string[]) => ({
  command: (effect: CommandEffect) => ({
    exitCode: effect.stage === "session_end" && names.includes(effect.name) ? 1 : 0,
  }),
});
const executed = (world: World) =>
  world.history.filter((effect) => effect.kind === "command" && effect.stage === "session_end").length;
const fixers = (world: World) => world.turns().filter((turn) => turn.role === "fixer");
const result = (world: World) => world.reported("session-end-completed").at(-1)?.session_end_result;
const own = (patch: Setup["sessionEnd"] = {}): Setup => ({ sessionEnd: { code_review: review, ...patch } });

describe("session_end", () => {
  it("C2 not configured: skipped, no started line, the review goes on", () => {
    const world = play({ review: {} });
    expect(world.reported("session-end-skipped")).toMatchObject([{ reason: "not_configured" }]);
    expect(world.reported("session-end-started")).toEqual([]);
    expect(world.reported("review-started")).toHaveLength(1);
  });

  it("C4 what it leaves under continue is said where no follow-up issue has it", () => {
    const world = play({ sessionEnd: {} }, failing("two"));
    const said = world.reported("log").map(({ text }) => text);
    expect(said).toContain("session_end leaves a finding that no follow-up issue has: ratchet findings p-1 --all");
    expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason: "session_end: continue" }]);
  });

  it("C4 what does not block under abort was no matter of continue", () => {
    const quiet = own({ failure_mode: "abort", code_review: { ...review, track_review_issues: false } });
    const world = play(quiet, { review: () => failWith(remark("Naming", 3)) });
    expect(world.finished()?.status).toBe("success");
    expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason: "session_end: below threshold" }]);
  });

  it.each([
    ["its own review tracks nothing", false, true],
    ["the issue's review tracks nothing", true, false],
  ])("B8 what both reviews report is tracked although %s", (_, byTrigger, byReview) => {
    const setup = {
      review: { track_review_issues: byReview },
      ...own({ code_review: { ...review, track_review_issues: byTrigger } }),
    };
    const world = play(setup, { review: () => failWith(remark("Naming", 3)), tracker: () => ({ id: "p-7" }) });
    expect(world.finished()?.status).toBe("success");
    expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason: "tracked as p-7" }]);
  });

  it("records each command with its place, in one folder each", () => {
    const world = play({ sessionEnd: {} });
    expect(result(world)).toMatchObject({ status: "pass", reason: null, code_review_result: null });
    expect(result(world)?.commands.map((command) => [command.ref, command.passed, command.output_path])).toEqual([
      ["one", true, "/home/runs/run-2/p-1/03-session_end/one"],
      ["two", true, "/home/runs/run-2/p-1/03-session_end/two"],
      ["three", true, "/home/runs/run-2/p-1/03-session_end/three"],
    ]);
  });

  it("C4 continue: later commands do not run, its review runs once, the issue can still succeed", () => {
    const world = play({ review: {}, ...own() }, { ...failing("two"), tracker: () => ({ id: "p-7" }) });
    expect(executed(world)).toBe(2);
    expect(result(world)).toMatchObject({
      status: "fail",
      reason: "command_failed",
      code_review_result: { ran: true, passed: true },
    });
    expect(world.reported("review-started").map((report) => report.stage)).toEqual(["session_end", "per_issue_review"]);
    expect(world.finished()?.status).toBe("success");
    const [finding] = world.life.ledger.findings;
    expect(finding).toMatchObject({
      source: "command",
      stage: "session_end",
      status: "waived",
      reason: "tracked as p-7",
    });
  });

  it.each(["abort", "remediate", "continue"] as const)(
    "a command that may fail fails nothing under %s: it is logged, and the next one runs",
    (failure_mode) => {
      const settings = { commands: { ...policyOf().settings.commands, one: allowed, two: allowed } };
      const how = (name: string) =>
        name === "one" ? { exitCode: 3, digest: "boom" } : { exitCode: null, timedOut: true };
      const rules: Rules = { command: ({ name }) => (["one", "two"].includes(name) ? how(name) : {}) };
      const world = play({ settings, sessionEnd: { failure_mode, max_retries: 1 } }, rules);
      expect([executed(world), fixers(world), world.life.ledger.findings]).toEqual([3, [], []]);
      expect(world.reported("log").map(({ text }) => text)).toContain("one failed, which is allowed: boom");
      expect(result(world)).toMatchObject({ status: "pass", reason: null });
      expect(result(world)?.commands.map(({ passed, allowed }) => [passed, allowed])).toEqual([
        [false, true],
        [false, true],
        [true, undefined],
      ]);
      expect(world.finished()?.status).toBe("success");
    },
  );

  it("a command that may fail and is followed by one that may not: the other is the only finding", () => {
    const settings = { commands: { ...policyOf().settings.commands, one: allowed } };
    const world = play({ settings, sessionEnd: {} }, failing("one", "two"));
    expect(result(world)).toMatchObject({ status: "fail", reason: "command_failed" });
    expect(world.life.ledger.findings).toMatchObject([{ reviewer: "two" }]);
  });

  it("C5 remediate, always failing: 3 executions, 2 fixers in new sessions, its review once, then the review", () => {
    const world = play({ review: {}, ...own({ failure_mode: "remediate", max_retries: 2 }) }, failing("one"));
    expect(executed(world)).toBe(3);
    expect(fixers(world).map((turn) => [turn.attempt, turn.maxAttempts, turn.session])).toEqual([
      [1, 2, null],
      [2, 2, null],
    ]);
    expect(result(world)).toMatchObject({ status: "fail", reason: "max_retries_exhausted" });
    expect(world.reported("review-started").filter((report) => report.stage === "session_end")).toHaveLength(1);
    expect(world.finished()).toMatchObject({ status: "success", counters: { session_end_attempts: 3 } });
  });

  it("C5 success on the second execution: one fixer, pass; max_retries 0: none", () => {
    const second = play(own({ failure_mode: "remediate", max_retries: 2 }), {
      command: (effect) => ({ exitCode: effect.folder === "03-session_end/one" ? 1 : 0 }),
    });
    expect(fixers(second)).toHaveLength(1);
    expect(result(second)).toMatchObject({ status: "pass", reason: null });
    const none = play(own({ failure_mode: "remediate" }), failing("one"));
    expect(fixers(none)).toEqual([]);
    const untracked = play({ sessionEnd: { failure_mode: "remediate" } }, failing("one"));
    expect(untracked.life.ledger.findings[0]?.reason).toBe("session_end: max_retries_exhausted");
    expect(result(none)?.reason).toBe("max_retries_exhausted");
  });

  it("a fixer's commit goes through the gate before the review, and session_end is not entered again", () => {
    const world = play({ review: {}, sessionEnd: { failure_mode: "remediate", max_retries: 1 } }, failing("one"));
    expect(world.reported("gate-passed").map((report) => report.commit)).toEqual(["c1", "c101"]);
    expect(world.reported("session-end-started")).toHaveLength(1);
    expect(world.reported("review-started")).toMatchObject([{ commit: "c101" }]);
    expect(world.finished()?.commit).toBe("c101");
  });

  it("fixers that mend session_end and break the gate are sent same_failure times, then no more", () => {
    // Each of the two passes only what the other refuses.
    const isFixed = (world: World) => (world.life.state.work?.head ?? "").length > 3;
    const world: World = new World(
      policyOf({ review: {}, sessionEnd: { failure_mode: "remediate", max_retries: 1, commands: [one] } }),
    );
    world.play({
      command: ({ stage }) => ({ exitCode: (stage === "session_end") === isFixed(world) ? 0 : 1 }),
      tracker: () => ({ id: "p-7" }),
    });
    expect(fixers(world)).toHaveLength(3);
    expect(world.turns().filter((turn) => turn.prompt === "gate_followup")).toHaveLength(3);
    expect(result(world)).toMatchObject({ status: "fail", reason: "max_retries_exhausted" });
    expect(world.reported("log").map(({ text }) => text)).toContain(
      "The gate has refused what fixers of session_end did 3 times: no more are sent",
    );
    expect(world.finished()).toMatchObject({ status: "success", message: "Review passed" });
  });

  it("C7 a fixer's work counts against ISSUE_NO_CHANGE, whoever committed it", () => {
    const nothing = { marker: { name: "NO_CHANGE", rationale: "none" }, snapshot: snapshot(0) } as const;
    const remediate: Setup = { review: {}, sessionEnd: { failure_mode: "remediate", max_retries: 1, commands: [one] } };
    const mended: Rules = { command: ({ folder }) => ({ exitCode: folder === "03-session_end/one" ? 1 : 0 }) };
    // Ratchet's own commit of what a fixer left is c101: one that is there already was the fixer's.
    for (const fixer of [{}, { snapshot: snapshot(101) }]) {
      const world = play(remediate, { ...mended, implement: () => nothing, fix: () => fixer });
      expect(world.finished()).toMatchObject({ status: "success", message: "Review passed", resolution: null });
      expect(world.turns().filter((turn) => turn.prompt === "gate_followup")).toEqual([]);
    }
  });

  it("C7 what a fixer left in the middle of a rebase is told with the place where it is", () => {
    const world = play(
      { sessionEnd: { failure_mode: "remediate", max_retries: 1, commands: [one] } },
      {
        command: ({ folder }) => ({ exitCode: folder === "03-session_end/one" ? 1 : 0 }),
        aside: { ref: "refs/ratchet/parked/i/1", as: "i" },
      },
    );
    expect(world.reported("log").map(({ text }) => text)).toContain(
      "What was left in the middle of a git operation, or as a repository of its own, is put aside as refs/ratchet/parked/i/1; ratchet worktree restore i brings it back",
    );
    expect(world.finished()).toMatchObject({ status: "success" });
  });

  it.each<[string, string[], string]>([
    ["put back meanwhile is not held against the commit", [], "success"],
    ["still has is named", ["n/ (a repository of its own)"], "failed"],
  ])("C7 what a fixer left and the worktree %s", (_, dirty, status) => {
    const left = (paths: readonly string[]) => snapshot(101, { dirty: paths, dirtyCount: paths.length });
    const world = play(
      { sessionEnd: { failure_mode: "remediate", max_retries: 1, commands: [one] } },
      {
        command: ({ folder }) => ({ exitCode: folder === "03-session_end/one" ? 1 : 0 }),
        committed: left(["n/ (a repository of its own)"]),
        left: left(dirty),
        implement: (_turn, n) => (n === 1 ? {} : { outcome: { type: "failed", reason: "no" } }),
      },
    );
    expect(world.finished()?.status).toBe(status);
    const bodies = world.life.ledger.findings.map(({ body }) => body.text).filter((text) => text.startsWith("These"));
    expect(bodies).toEqual(dirty.map((name) => `These files are not committed (1):\n${name}`));
  });

  it.each<[string, Partial<Snapshot>, string]>([
    ["pushed meanwhile is not held against it", {}, "success"],
    ["still not pushed is named", { unpushed: ["lib at c9"] }, "failed"],
  ])("C7 a submodule's commit that a fixer made and that is %s", (_, left, status) => {
    const world = play(
      { sessionEnd: { failure_mode: "remediate", max_retries: 1, commands: [one] } },
      {
        command: ({ folder }) => ({ exitCode: folder === "03-session_end/one" ? 1 : 0 }),
        committed: snapshot(101, { unpushed: ["lib at c9"] }),
        left: snapshot(101, left),
        implement: (_turn, n) => (n === 1 ? {} : { outcome: { type: "failed", reason: "no" } }),
      },
    );
    expect(world.finished()?.status).toBe(status);
    const bodies = world.life.ledger.findings.map(({ body }) => body.text).join();
    expect(bodies.includes("lib at c9\n")).toBe(left.unpushed !== undefined);
  });

  it("C6 its executions change neither the gate's nor the review's attempts", () => {
    const world = play(
      { review: {}, sessionEnd: { failure_mode: "remediate", max_retries: 2 } },
      {
        command: (effect) => ({ exitCode: effect.stage === "session_end" && effect.name === "one" ? 1 : 0 }),
        review: (_, n) => (n <= 2 ? failWith(remark("Wrong", 1)) : {}),
      },
    );
    expect(
      world
        .turns()
        .filter((turn) => turn.role === "implementer")
        .map((turn) => [turn.prompt, turn.attempt]),
    ).toEqual([
      ["implementer", 1],
      ["review_followup", 2],
      ["review_followup", 3],
    ]);
    expect(world.finished()).toMatchObject({
      status: "success",
      counters: { review_attempts: 3, session_end_attempts: 9 },
    });
  });

  it("C11 abort: the culprit fails, also with review off, without its own review, and wants the run aborted", () => {
    const world = play(own({ failure_mode: "abort" }), failing("one"));
    expect(result(world)).toMatchObject({ status: "fail", reason: "failure_mode_abort", code_review_result: null });
    expect(world.finished()).toMatchObject({ status: "failed", error: "failure_mode_abort" });
    expect(world.life.state.abortRun).toBe(true);
  });

  it("C9 the overall timeout ends the running command, records none, and the review goes on", () => {
    const world = play({ review: {}, ...own() }, { command: (effect) => (effect.name === "two" ? null : {}) });
    expect(world.history.find((effect) => effect.kind === "stop")).toMatchObject({
      how: "kill",
      folder: "03-session_end/two",
    });
    expect(result(world)).toMatchObject({
      status: "timeout",
      reason: "session_end_timeout",
      commands: [],
      code_review_result: null,
    });
    expect(world.finished()?.status).toBe("success");
  });

  it("the overall clock does not count fixer turns", () => {
    const world = play(
      { sessionEnd: { failure_mode: "remediate", max_retries: 1, timeout: 100 } },
      {
        ...failing("one"),
        fix: () => ({ seconds: 5000 }),
        before: (w) => {
          if (w.turns().at(-1)?.role === "fixer" && w.at < 5_000_000) w.at = 5_000_000;
          return null;
        },
      },
    );
    expect(result(world)).toMatchObject({ status: "fail", reason: "max_retries_exhausted" });
    const timers = world.history.filter((effect) => effect.kind === "timer");
    expect(timers[1]?.until).toBeGreaterThan(5_000_000);
  });

  it("the timeout during its review stops the reviewer: timeout, ran false", () => {
    const world = play(own(), { review: () => null });
    expect(result(world)).toMatchObject({ status: "timeout", commands: [], code_review_result: { ran: false } });
    expect(world.finished()?.status).toBe("success");
  });

  it("blocking findings of its own review make it fail, code_review; three protocol failures too, without findings", () => {
    const blocked = play(own(), { review: () => failWith(remark("Wrong", 1)) });
    expect(result(blocked)).toMatchObject({
      status: "fail",
      reason: "code_review",
      code_review_result: { ran: true, passed: false },
    });
    expect(result(blocked)?.code_review_result?.findings).toHaveLength(1);
    const mute = play(own(), { review: () => noVerdict });
    expect(mute.reported("review-ended").map((report) => report.verdict)).toEqual(["protocol", "protocol", "protocol"]);
    expect(result(mute)?.code_review_result).toEqual({ ran: true, passed: false, findings: [] });
    expect(mute.finished()?.status).toBe("success");
  });

  it("what its review found stays open until its reviewers judge it again, whatever its commands say", () => {
    const bug = remark("Loses data", 0);
    const rules = (later: Partial<TurnEnded>, command = 0): Rules => {
      let own = 0;
      return {
        command: (effect) => ({ exitCode: effect.stage === "session_end" && own > 0 ? command : 0 }),
        review: (effect, n) => {
          if (effect.stage !== "session_end") return n === 2 ? failWith(remark("Wrong", 1)) : {};
          own += 1;
          return own === 1 ? failWith(bug) : later;
        },
      };
    };
    const status = (world: World) => world.life.ledger.findings.find(({ title }) => title === bug.title);
    const mute = play({ review: {}, ...own() }, rules(noVerdict));
    expect(mute.finished()?.status).toBe("success");
    expect(status(mute)).toMatchObject({ status: "waived", reason: "tracked as p-9" });
    expect(status(play({ review: {}, ...own() }, rules(noVerdict, 1)))?.status).toBe("waived");
    expect(status(play({ review: {}, ...own() }, rules({})))?.status).toBe("resolved");
    expect(status(play({ review: {}, ...own() }, rules(failWith(remark("Other", 1)))))?.status).toBe("superseded");
  });

  it("A5 C16 what its review rates worse does not block the issue's own, which rates the same defect lower and passes", () => {
    const bug = (priority: number) => failWith(remark("Loses data", priority));
    const review: Rules["review"] = ({ stage }) => bug(stage === "session_end" ? 0 : 2);
    const world = play(
      { review: {}, ...own() },
      { review, land: () => ({ type: "conflict", tip: "t", files: ["a.ts"] }) },
    );
    const [judged] = world.reported("review-ended").filter(({ stage }) => stage === "per_issue_review");
    expect(judged).toMatchObject({ verdict: "pass", blocking: [] });
    expect(world.finished()).toMatchObject({ status: "escalated", last_review_issues: null });
  });

  it("C13 without commands its review alone decides", () => {
    expect(result(play(own({ commands: [] })))).toMatchObject({
      status: "pass",
      commands: [],
      code_review_result: { ran: true, passed: true },
    });
  });

  it("C15 killed in a command: interrupted, process_crash; then again from the first command, no attempt used", () => {
    let crashed = false;
    const world = play(
      { sessionEnd: {} },
      {
        before: (w) => {
          if (crashed || ![...w.owed.keys()].includes("session_end:03:two")) return null;
          crashed = true;
          return "resumed";
        },
      },
    );
    const told = world.reported("session-end-completed");
    expect(told.map((report) => [report.result, report.reason])).toEqual([
      ["interrupted", "process_crash"],
      ["pass", null],
    ]);
    expect(told[0]?.session_end_result.commands.map((command) => command.ref)).toEqual(["one"]);
    expect(world.finished()?.counters.session_end_attempts).toBe(1);
    expect(world.commands().filter((key) => key.startsWith("session_end:04"))).toHaveLength(3);
  });
});
