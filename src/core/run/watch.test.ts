import { describe, expect, it } from "vitest";
import { Run } from "./fixture.js";

const listening = (run: Run) =>
  [...run.owed.values()].find((effect) => effect.kind === "board")?.key ?? "not listening";
const none = (run: Run, cursor = 7) => run.arrive({ type: "none-left", key: run.picking(), cursor });

describe("when nothing is left to start", () => {
  it("a run with lives listens to the board, and picks as soon as it changes", () => {
    const run = none(new Run().prepared().pick("a"));
    expect(run.owed.get(listening(run))).toMatchObject({ kind: "board", cursor: 7 });
    run.arrive({ type: "board-changed", key: listening(run) });
    expect(run.picking()).toBe("pick:3");
    expect(listening(run)).toBe("not listening");
    none(run.pick("b"));
    expect(listening(run)).toBe("board:2");
  });

  it("who hears the board is not asked at the end of every life, only of one that failed and of the last", () => {
    const run = ["a", "b", "c", "d", "e"].reduce((one, id) => one.pick(id), new Run().prepared()).noneHeard();
    run.end("a", "success").end("b", "not-claimed");
    expect([listening(run), run.picking()]).toEqual(["board:1", "no pick is owed"]);
    run.end("c", "failed");
    expect([listening(run), run.picking()]).toEqual(["not listening", "pick:7"]);
    run.noneHeard().end("d", "success").end("e", "success");
    expect([listening(run), run.picking()]).toEqual(["not listening", "pick:8"]);
    expect(run.noneHeard().finished()).toMatchObject({ exit_code: 1, success_count: 3, total_count: 4 });
  });

  it("what the board is looked through for leaves out what a pick does", () => {
    const run = new Run({ findsEpics: true }).prepared().pick("a").pick("b").end("a", "not-claimed").noneHeard();
    expect(run.owed.get(listening(run))).toMatchObject({ cursor: 7, not: ["b", "a"], epics: true });
  });

  it("it listens no longer when its last life has ended and nothing is left: it is over", () => {
    const run = none(new Run().prepared().pick("a"));
    run.end("a", "success");
    expect(listening(run)).toBe("not listening");
    expect(none(run).finished()).toMatchObject({ exit_code: 0 });
    expect(run.owed.size).toBe(0);
  });

  it("with --watch it waits for new work, says so, and a drain ends it", () => {
    const run = none(new Run({ watch: true }).prepared());
    expect(run.finished()).toBeUndefined();
    expect(run.reports.at(-1)).toMatchObject({ type: "log", text: "Waiting for new work" });
    run.arrive({ type: "board-changed", key: listening(run) }).pick("a");
    none(run).end("a", "success");
    none(run);
    expect(run.finished()).toBeUndefined();
    run.signal("drain");
    expect(run.finished()).toMatchObject({ exit_code: 130, success_count: 1 });
    expect(run.owed.size).toBe(0);
  });

  it("with --watch and max_issues it ends after that many", () => {
    const run = new Run({ watch: true, maxIssues: 1 }).prepared().pick("a").end("a", "success");
    expect(run.finished()).toMatchObject({ exit_code: 0 });
    expect(run.owed.size).toBe(0);
  });

  it.each([
    [false, undefined],
    [true, 3],
  ])("a board that cannot be listened to (--watch: %s) never looks like no work", (watch, exit_code) => {
    const run = none(new Run({ watch }).prepared().pick("a"));
    run.arrive({ type: "crashed", key: listening(run), effect: "board", message: "gone", external: true });
    run.end("a", "success");
    if (exit_code !== undefined) expect(run.finished()).toMatchObject({ exit_code });
    else expect(none(run).finished()).toMatchObject({ exit_code: 0 });
  });
});

it("a pick that was under way when an issue failed, and so left it out, is not the last word of what is left", () => {
  const run = new Run().prepared().pick("a");
  expect(run.owed.get(run.picking())).toMatchObject({ not: ["a"] });
  run.end("a", "failed").noneHeard();
  expect(run.finished()).toBeUndefined();
  expect(run.owed.get(run.picking())).toMatchObject({ kind: "pick", not: [] });
  expect(run.noneHeard().finished()).toMatchObject({ exit_code: 1 });
});

it("an issue that failed, was made available again and then succeeded does not make the run fail", () => {
  const run = none(new Run().prepared().pick("a"));
  run.end("a", "failed");
  const start = { issueId: "a", title: "a", life: 2, resume: null, again: true, folders: 3 };
  run.arrive({ type: "picked", key: run.picking(), start });
  none(run).end("a", "success", { key: "child:a:2" });
  expect(none(run).finished()).toMatchObject({ exit_code: 0, success_count: 1, total_count: 1 });
});
