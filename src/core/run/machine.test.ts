import { describe, expect, it } from "vitest";
import { type Ended, Run, runEnd, triggers } from "./fixture.js";

const running = (...ids: string[]) => ids.reduce((run, id) => run.pick(id), new Run().prepared());

describe("a run", () => {
  it("picks the next issue as soon as one is picked, so that many run at once", () => {
    const run = running("a", "b", "c");
    expect([...run.owed.keys()].filter((key) => key.startsWith("child"))).toHaveLength(3);
    expect(run.picking()).toBe("pick:4");
    expect(run.owed.get("pick:4")).toMatchObject({ not: ["a", "b", "c"] });
  });

  it("asks again when a life ends, because a dependent may be free now, and ends when nothing is left", () => {
    const run = running("a").none();
    expect(run.picking()).toBe("no pick is owed");
    run.end("a", "success").pick("b").none().end("b", "success").none();
    expect(run.finished()).toMatchObject({ status: "succeeded", exit_code: 0, success_count: 2, total_count: 2 });
    expect(run.owed.size).toBe(0);
  });

  it("with nothing to do is well", () => {
    expect(new Run().prepared().none().finished()).toMatchObject({ status: "succeeded", exit_code: 0, total_count: 0 });
  });

  it.each<[Ended["status"], Partial<Ended>, object]>([
    ["failed", {}, { status: "failed", exit_code: 1, success_count: 0, total_count: 1 }],
    ["escalated", {}, { status: "failed", exit_code: 1, total_count: 1 }],
    ["interrupted", {}, { status: "succeeded", exit_code: 0, total_count: 0, interrupted_count: 1 }],
    ["not-claimed", {}, { status: "succeeded", exit_code: 0, total_count: 0 }],
    ["success", { trackerOwed: true }, { status: "failed", exit_code: 3, success_count: 1 }],
  ])("a life that ended %s %j makes it %j", (status, patch, ending) => {
    expect(running("a").none().end("a", status, patch).none().finished()).toMatchObject(ending);
  });

  it("a landing by hand has failed where its issue was stopped or closed meanwhile", () => {
    const landing = () => new Run({ only: "land", maxIssues: 1 }).prepared().pick("a");
    const failed = { status: "failed", exit_code: 1, interrupted_count: 1 };
    expect(landing().end("a", "interrupted").none().finished()).toMatchObject(failed);
    expect(landing().end("a", "success").none().finished()).toMatchObject({ status: "succeeded", exit_code: 0 });
  });

  it("does not pick an issue again that it could not claim; of one that failed the pick itself knows", () => {
    const run = running("a", "b").end("a", "not-claimed").none().end("b", "failed").none();
    expect(run.finished()).toMatchObject({ exit_code: 1, total_count: 1 });
    const picks = run.history.filter((effect) => effect.kind === "pick");
    expect(picks.at(-1)).toMatchObject({ not: ["a"] });
  });

  it("that did nothing because others were faster says so in one line", () => {
    const said = (run: Run) => run.reports.filter(({ type }) => type === "log");
    const run = running("a").end("a", "not-claimed").pick("b").end("b", "not-claimed").none();
    const text = "Nothing was worked on: somebody else has claimed a and 1 more first";
    expect([run.finished()?.exit_code, said(run)]).toEqual([0, [{ type: "log", level: "info", text }]]);
    expect(said(running("a", "b").end("a", "not-claimed").end("b", "success").none())).toEqual([]);
    expect(said(running("a").end("a", "not-claimed", { trackerOwed: true }).none())).toEqual([]);
  });

  it("takes max_issues and no more; one that could not be claimed does not count", () => {
    const run = new Run({ maxIssues: 1 }).prepared().pick("a");
    expect(run.picking()).toBe("no pick is owed");
    run.end("a", "not-claimed").pick("b").end("b", "success");
    expect(run.finished()).toMatchObject({ success_count: 1, total_count: 1 });
  });

  it("has only so many lives at once, whatever waits in them, and takes the next as soon as one has ended", () => {
    const run = new Run({ livesMax: 2 }).prepared().pick("a").pick("b");
    expect(run.picking()).toBe("no pick is owed");
    expect(run.end("a", "success").picking()).toBe("pick:4");
    run.pick("c").end("b", "success").end("c", "success").none();
    expect(run.finished()).toMatchObject({ exit_code: 0, success_count: 3 });
  });

  it("a branch that did not follow is tried once more when all else is over, and that is the last word on it", () => {
    const run = running("a", "b").end("a", "success", { behind: true });
    expect([...run.owed.values()].map(({ kind }) => kind)).not.toContain("follow");
    run.end("b", "success").none();
    expect([run.finished(), run.owed.get("follow:1")]).toEqual([undefined, { kind: "follow", key: "follow:1" }]);
    run.arrive({ type: "followed", key: "follow:1", target: "main", behind: null });
    expect(run.reports.at(-2)).toEqual({ type: "target-followed", target_branch: "main", behind: null });
    expect(run.finished()).toMatchObject({ exit_code: 0, success_count: 2 });
  });

  it("a look at that branch that breaks neither fails the run nor holds it", () => {
    const run = running("a").end("a", "success", { behind: true }).none();
    run.arrive({ type: "crashed", key: "follow:1", effect: "follow", message: "gone", external: true });
    expect(run.reports.at(-2)).toMatchObject({ type: "log", level: "warn", text: expect.stringContaining("gone") });
    expect(run.finished()).toMatchObject({ status: "succeeded", exit_code: 0 });
  });

  it("who stops a run does not wait for that branch", () => {
    const run = running("a").signal("stop").end("a", "success", { behind: true });
    expect([run.finished()?.exit_code, run.owed.size]).toEqual([130, 0]);
  });

  it("C10 the first SIGINT drains: no pick, lives go on, run_end skipped, exit 130", () => {
    const run = new Run({ triggers: triggers({ run_end: runEnd() }) }).prepared().pick("a").pick("b").signal("drain");
    expect(run.picking()).toBe("no pick is owed");
    expect(run.told()).toEqual(["a drain", "b drain"]);
    run.end("a", "success").end("b", "success");
    expect(run.finished()).toMatchObject({ status: "interrupted", exit_code: 130, success_count: 2 });
    expect(run.reports.at(-2)).toMatchObject({ type: "run-end-skipped", reason: "run_aborted" });
    expect(run.owed.size).toBe(0);
  });

  it("what arrives before the signal can be recorded is told of it: nothing is picked or fired behind it", () => {
    const run = new Run({ triggers: triggers({ run_end: runEnd() }) }).prepared().pick("a");
    run.ending = "drain";
    run.pick("b");
    expect([run.picking(), run.told()]).toEqual(["no pick is owed", ["a drain", "b drain"]]);
    run.end("b", "not-claimed").end("a", "success");
    expect(run.finished()).toMatchObject({ status: "interrupted", exit_code: 130, success_count: 1, total_count: 1 });
    expect(run.reports.at(-2)).toMatchObject({ type: "run-end-skipped", reason: "run_aborted" });
    const said = run.reports.filter((report) => report.type === "log" && report.text.startsWith("Draining"));
    expect([said.length, run.owed.size]).toEqual([1, 0]);
  });

  it("the second one stops the lives", () => {
    const run = running("a").signal("drain").signal("stop").signal("stop");
    expect(run.told()).toEqual(["a drain", "a stop"]);
    expect(run.end("a", "interrupted").finished()).toMatchObject({
      status: "interrupted",
      exit_code: 130,
      total_count: 0,
      interrupted_count: 1,
    });
  });

  it("a used-up budget starts nothing new and tells the lives; what lands still lands, exit 1", () => {
    const run = running("a", "b").arrive({
      type: "signal",
      key: "signal:1",
      signal: { name: "budget", reason: "9 of 5 USD" },
    });
    expect(run.picking()).toBe("no pick is owed");
    expect(run.told()).toEqual(["a budget", "b budget"]);
    run.end("a", "success").end("b", "success");
    expect(run.finished()).toMatchObject({ status: "failed", exit_code: 1, success_count: 2, total_count: 2 });
    expect(run.owed.size).toBe(0);
  });

  it("its minutes are a timer from the start, gone when it ends; a pick that finds the budget used up ends it too", () => {
    const run = new Run({ minutes: 2 }).prepared().pick("a");
    expect(run.owed.get("timer:budget")).toMatchObject({ until: 120_001 });
    run.arrive({ type: "timer-fired", key: "timer:budget" });
    expect(run.told()).toEqual(["a budget"]);
    expect(run.end("a", "escalated").finished()).toMatchObject({ exit_code: 1 });
    const quick = new Run({ minutes: 2 }).prepared().none();
    expect(quick.finished()).toMatchObject({ exit_code: 0 });
    expect(quick.owed.size).toBe(0);
    const spent = new Run().prepared();
    spent.arrive({ type: "none-left", key: spent.picking(), budget: "9 of 5 USD" });
    expect(spent.finished()).toMatchObject({ exit_code: 1, total_count: 0 });
  });

  it("D1 the time in which no process drove it is added to its timer, as often as that happens", () => {
    const run = new Run({ minutes: 2 }).prepared().pick("a");
    run.arrive({ type: "resumed", since: -600_000 }).arrive({ type: "resumed", since: 1 });
    run.arrive({ type: "resumed", since: -599_999 });
    const timers = [...run.owed.values()].filter(({ kind }) => kind === "timer");
    expect(timers).toMatchObject([{ until: 120_001 + 600_001 + 600_000 }]);
    run.arrive({ type: "timer-fired", key: timers[0]?.key ?? "" });
    expect(run.told()).toEqual(["a budget"]);
  });

  it("a signal before it is prepared ends it", () => {
    const run = new Run().signal("drain");
    expect(run.finished()).toMatchObject({ status: "interrupted", exit_code: 130 });
    expect(run.owed.size).toBe(0);
  });

  it.each<[string, (run: Run) => Run]>([
    ["Draining", (run) => run.signal("drain")],
    ["Stopping", (run) => run.signal("stop")],
    ["Aborting", (run) => run.end("a", "failed", { abort: true })],
  ])("says once that it ends, and again to whoever takes it up: %s", (word, tell) => {
    const run = tell(running("a", "b"));
    const said = () => run.reports.filter((report) => report.type === "log" && report.text.startsWith(`${word}: `));
    expect(said()).toHaveLength(1);
    run.arrive({ type: "resumed" });
    expect(said()).toHaveLength(2);
  });

  it("C11 an issue's abort: the others are told, nothing more starts, exit 3, run_end skipped, also where none is configured", () => {
    const run = new Run({ triggers: triggers({}) }).prepared().pick("a").pick("b").end("a", "failed", { abort: true });
    expect(run.told()).toEqual(["b abort"]);
    expect(run.picking()).toBe("no pick is owed");
    expect(run.end("b", "failed").finished()).toMatchObject({ status: "aborted", exit_code: 3, total_count: 2 });
    expect(run.reports.at(-2)).toEqual({ type: "run-end-skipped", reason: "run_aborted" });
  });

  it.each([
    [true, 3],
    [false, 1],
  ])("a pick that breaks (external: %s) is not 'no work': lives end, then exit %i", (external, exit_code) => {
    const run = running("a");
    run.arrive({ type: "crashed", key: run.picking(), effect: "pick", message: "tracker down", external });
    expect(run.finished()).toBeUndefined();
    expect(run.end("a", "success").finished()).toMatchObject({ status: "failed", exit_code, success_count: 1 });
  });

  it.each([
    [
      "pick",
      "The next issue could not be asked for; nothing else is started, what runs goes on to its end: bd is away",
    ],
    ["epics", "Epics could not be looked at; they stay as they are, and the next run looks again: bd is away"],
    ["child", "a broke off, and counts as failed: bd is away"],
  ])("says what could not be done and what happens next, in words: %s", (effect, text) => {
    const run = new Run({ findsEpics: true }).prepared().pick("a");
    const key = [...run.owed.values()].find(({ kind }) => kind === effect)?.key ?? "";
    run.arrive({ type: "crashed", key, effect, message: "bd is away", external: true });
    expect(run.reports.at(-1)).toEqual({ type: "log", level: "error", text });
  });

  it("a preparation that breaks ends it at once", () => {
    const run = new Run().arrive({
      type: "crashed",
      key: "prepare",
      effect: "prepare",
      message: "no disk",
      external: true,
    });
    expect(run.finished()).toMatchObject({ status: "failed", exit_code: 3 });
    expect(run.owed.size).toBe(0);
  });

  it("a life whose driver broke counts as failed", () => {
    const run = running("a").none();
    run.arrive({ type: "crashed", key: "child:a:1", effect: "child", message: "bug", external: false }).none();
    expect(run.finished()).toMatchObject({ exit_code: 1, total_count: 1 });
  });

  it("nothing changes it once it is done", () => {
    const run = new Run().prepared().none();
    const before = run.state;
    run.arrive({ type: "resumed" }).arrive({ type: "told", key: "x" });
    expect(run.state).toBe(before);
  });
});
