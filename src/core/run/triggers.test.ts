import { describe, expect, it } from "vitest";
import type { TriggerSettings } from "../settings.js";
import type { RunEvent } from "./effects.js";
import { epicCompletion, periodic, Run, runEnd, triggers } from "./fixture.js";

type TriggerEnded = Extract<RunEvent, { type: "trigger-ended" }>;

const withTriggers = (patch: Partial<TriggerSettings>) => new Run({ triggers: triggers(patch) }).prepared();
const firing = (run: Run) => [...run.owed.values()].flatMap((one) => (one.kind === "trigger" ? [one.start.name] : []));
const texts = (run: Run) =>
  run.reports.flatMap((one) => {
    if (one.type === "trigger-started") return [`${one.trigger} started: ${one.about}`];
    if (one.type === "trigger-completed") return [`${one.trigger} completed: ${one.about}, result=${one.result}`];
    return one.type === "log" ? [one.text] : [];
  });

function endTrigger(run: Run, patch: Partial<TriggerEnded> = {}): Run {
  const owed = [...run.owed.values()].find((one) => one.kind === "trigger");
  const nothing = { reason: null, commands: [], code_review_result: null, abort: false, trackerOwed: false };
  return run.arrive({ type: "trigger-ended", key: owed?.key ?? "", result: "pass", folders: 3, ...nothing, ...patch });
}
function play(run: Run, outcomes: readonly ("success" | "failed")[]): Run {
  for (const index of outcomes.keys()) run.pick(`i${index}`);
  run.none();
  for (const [index, status] of outcomes.entries()) run.end(`i${index}`, status).none();
  return run;
}

describe("run_end", () => {
  const cells = [
    [["failed"], "success", false],
    [["failed"], "failure", true],
    [["failed"], "both", true],
    [["success"], "success", true],
    [["success"], "failure", false],
    [["success"], "both", true],
    [["success", "failed"], "success", true],
    [["success", "failed"], "failure", true],
    [["success", "failed"], "both", true],
    [[], "both", false],
  ] as const;
  it.each(cells)("C12 after %j with fire_on %s: fires %s", (outcomes, fireOn, fires) => {
    const run = play(withTriggers({ run_end: runEnd(fireOn) }), outcomes);
    if (outcomes.length === 0) run.none();
    expect(firing(run)).toEqual(fires ? ["run_end"] : []);
    const told = run.reports.filter((one) => one.type.startsWith("run-end"));
    const success_count = outcomes.filter((one) => one === "success").length;
    expect(told).toEqual(
      fires
        ? [{ type: "run-end-started", success_count, total_count: outcomes.length }]
        : [{ type: "run-end-skipped", reason: "fire_on_not_met" }],
    );
  });

  it("waits for the last issue, fires once, and a failed one makes exit 1", () => {
    const run = withTriggers({ run_end: runEnd() }).pick("a").pick("b").none().end("a", "success").none();
    expect(firing(run)).toEqual([]);
    run.end("b", "success").none();
    expect(firing(run)).toEqual(["run_end"]);
    expect(run.finished()).toBeUndefined();
    endTrigger(run, { result: "fail", reason: "command_failed" });
    expect(run.finished()).toMatchObject({ status: "failed", exit_code: 1, success_count: 2 });
    expect(run.reports.at(-2)).toMatchObject({ type: "run-end-completed", result: "fail", reason: "command_failed" });
    expect(run.owed.size).toBe(0);
  });

  it("that aborts: aborted, exit 1", () => {
    const run = play(withTriggers({ run_end: runEnd() }), ["success"]);
    expect(endTrigger(run, { result: "fail", abort: true }).finished()).toMatchObject({
      status: "aborted",
      exit_code: 1,
    });
  });

  it("is told of a drain; the run is interrupted all the same", () => {
    const run = play(withTriggers({ run_end: runEnd() }), ["success"]).signal("drain");
    const tells = [...run.owed.values()].filter((one) => one.kind === "tell");
    expect(tells).toMatchObject([{ trigger: "run_end", life: 1, signal: "drain" }]);
    endTrigger(run, { result: "fail", reason: "SIGINT received" });
    expect(run.finished()).toMatchObject({ status: "interrupted", exit_code: 130 });
  });

  it("whose driver broke has failed", () => {
    const run = play(withTriggers({ run_end: runEnd() }), ["success"]);
    run.arrive({ type: "crashed", key: "trigger:1:run_end", effect: "trigger", message: "bug", external: false });
    expect(run.reports.at(-2)).toMatchObject({ type: "run-end-completed", result: "fail" });
    expect(run.finished()).toMatchObject({ exit_code: 1 });
  });
});

describe("periodic", () => {
  it("fires after every interval of finished issues, whatever their outcome, and holds back nothing but the end", () => {
    const run = withTriggers({ periodic: periodic(2), run_end: runEnd() });
    run.pick("a").pick("b").pick("c").end("a", "failed").end("b", "interrupted").end("c", "success");
    expect(firing(run)).toEqual(["periodic"]);
    expect(texts(run)).toEqual(["periodic started: finished=2"]);
    run.pick("d").none().end("d", "success").none();
    expect(run.finished()).toBeUndefined();
    expect(firing(run)).toEqual(["periodic"]);
    endTrigger(run);
    expect(texts(run).at(-1)).toBe("periodic completed: finished=2, result=pass");
    expect(firing(run)).toEqual(["run_end"]);
    expect(endTrigger(run).finished()).toMatchObject({ exit_code: 1, total_count: 3 });
  });

  it("queues at most one while one runs, tells what has finished when it starts, and numbers folders on", () => {
    const run = withTriggers({ periodic: periodic(1) });
    for (const id of ["a", "b", "c"]) run.pick(id);
    run.end("a", "success").end("b", "success").end("c", "success").none();
    expect(run.state.triggers?.queue).toHaveLength(1);
    endTrigger(run, { folders: 7 });
    expect(texts(run).at(-1)).toBe("periodic started: finished=3");
    expect(run.history.filter((one) => one.kind === "trigger").at(-1)).toMatchObject({
      key: "trigger:2:periodic",
      start: { folders: 7, number: 2, startCommit: "c0" },
    });
    expect(endTrigger(run, { folders: 9 }).finished()).toMatchObject({ exit_code: 0 });
  });

  it("that aborts ends the run: lives are told, nothing is picked, run_end is skipped, exit 1", () => {
    const run = withTriggers({ periodic: periodic(1), run_end: runEnd() })
      .pick("a")
      .pick("b")
      .end("a", "success");
    endTrigger(run, { result: "fail", abort: true });
    expect(run.told()).toEqual(["b abort"]);
    expect(run.picking()).toBe("no pick is owed");
    run.end("b", "failed");
    expect(run.reports.at(-2)).toEqual({ type: "run-end-skipped", reason: "run_aborted" });
    expect(run.finished()).toMatchObject({ status: "aborted", exit_code: 1 });
  });

  it("that waits is dropped when the run is told to end", () => {
    const run = withTriggers({ periodic: periodic(1) })
      .pick("a")
      .pick("b")
      .end("a", "success")
      .end("b", "success");
    expect(run.state.triggers?.queue).toHaveLength(1);
    run.signal("stop");
    expect(endTrigger(run, { result: "fail" }).finished()).toMatchObject({ exit_code: 130 });
  });

  it("fires once for a number of finished issues, also when a retry reaches it a second time", () => {
    const run = withTriggers({ periodic: periodic(2) })
      .pick("a")
      .pick("b")
      .none();
    run.end("a", "success").none().end("b", "failed");
    endTrigger(run);
    const start = { issueId: "b", title: "b", life: 2, resume: null, again: true, folders: 3 };
    run.arrive({ type: "picked", key: run.picking(), start });
    run.none().end("b", "success", { key: "child:b:2" });
    expect(firing(run)).toEqual([]);
    for (const id of ["c", "d"]) run.pick(id);
    run.none().end("c", "success").none().end("d", "success");
    expect(texts(run).filter((text) => text.includes("started"))).toEqual([
      "periodic started: finished=2",
      "periodic started: finished=4",
    ]);
  });

  it("counts a life that broke like any other that failed", () => {
    const run = withTriggers({ periodic: periodic(1) })
      .pick("a")
      .none();
    run.arrive({ type: "crashed", key: "child:a:1", effect: "child", message: "broke", external: false });
    expect(firing(run)).toEqual(["periodic"]);
  });
});

describe("epics", () => {
  const inEpic = (run: Run, id: string) =>
    run.arrive({
      type: "picked",
      key: run.picking(),
      start: { issueId: id, title: id, life: 1, resume: null, parent: "e" },
    });
  const looked = (run: Run, epic: { id: string; isTop: boolean } | null) => {
    const look = [...run.owed.values()].find((one) => one.kind === "epic");
    return run.arrive({ type: "epic-checked", key: look?.key ?? "", epic });
  };

  it("are looked at when an issue in one succeeded, and once completed fire their trigger and look further up", () => {
    const run = withTriggers({ epic_completion: epicCompletion("all"), run_end: runEnd() });
    inEpic(run, "a").none().end("a", "success").none();
    expect(run.finished()).toBeUndefined();
    looked(run, { id: "e", isTop: false }).none();
    expect(firing(run)).toEqual(["epic_completion"]);
    expect(texts(run)).toContain("epic_completion started: epic_id=e");
    looked(run, { id: "top", isTop: true }).none();
    endTrigger(run);
    expect(firing(run)).toEqual(["epic_completion"]);
    endTrigger(run);
    expect(endTrigger(run).finished()).toMatchObject({ exit_code: 0 });
  });

  it.each([
    ["top_level", "success", { id: "e", isTop: false }, 0],
    ["top_level", "success", { id: "e", isTop: true }, 1],
    ["top_level", "failure", { id: "e", isTop: true }, 0],
    ["all", "both", { id: "e", isTop: false }, 1],
  ] as const)("with epic_depth %s and fire_on %s, %j fires %i times", (depth, fireOn, epic, times) => {
    const run = withTriggers({ epic_completion: epicCompletion(depth, fireOn) });
    inEpic(run, "a").none().end("a", "success").none();
    looked(run, epic);
    expect(firing(run)).toHaveLength(times);
  });

  it("count once, also when two looks see the same one done; a failed issue is no reason to look", () => {
    const run = withTriggers({ epic_completion: epicCompletion() });
    inEpic(run, "a");
    inEpic(run, "b");
    inEpic(run, "c").none().end("a", "success").none().end("b", "success").none().end("c", "failed").none();
    looked(run, { id: "e", isTop: true }).none();
    looked(run, { id: "e", isTop: true }).none();
    expect(firing(run)).toEqual(["epic_completion"]);
    expect(run.state.triggers?.queue).toEqual([]);
    expect(endTrigger(run).finished()).toMatchObject({ exit_code: 1 });
  });

  it("let the run pick again once completed, because something may have waited for them", () => {
    const run = withTriggers({});
    inEpic(run, "a").none().end("a", "success").none();
    looked(run, { id: "e", isTop: true }).pick("b").none().end("b", "success").none();
    expect(run.finished()).toMatchObject({ success_count: 2 });
  });

  it("a look that breaks is an error of the run, not its end", () => {
    const run = withTriggers({});
    inEpic(run, "a").none().end("a", "success").none();
    run.arrive({ type: "crashed", key: "epic:1", effect: "epic", message: "tracker down", external: true });
    expect(run.finished()).toMatchObject({ exit_code: 3, success_count: 1 });
  });
});
