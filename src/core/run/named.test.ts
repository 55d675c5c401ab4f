import { describe, expect, it } from "vitest";
import { Run } from "./fixture.js";

const named = (...ids: string[]) => new Run({ scope: { type: "ids", ids } }).prepared();
const look = (...ids: string[]) => ({ kind: "named", key: "named", ids });
const left = (issueId: string, reason: string | null) =>
  ({ type: "named-seen", key: "named", left: [{ issueId, reason }] }) as const;

describe("issues that were named", () => {
  it("are not asked about where all have begun, nor where none was named", () => {
    const all = named("a", "b").pick("a").pick("b").end("a", "success").end("b", "success").none();
    expect(all.finished()).toMatchObject({ exit_code: 0, success_count: 2 });
    expect(new Run().prepared().none().finished()).toMatchObject({ exit_code: 0 });
  });

  it("one that cannot run is told, and is no success", () => {
    const run = named("a", "b").pick("a").end("a", "success").none();
    expect([run.finished(), run.owed.get("named")]).toEqual([undefined, look("b")]);
    run.arrive(left("b", "blocked by c"));
    expect(run.reports.at(-2)).toEqual({ type: "log", level: "warn", text: "b did not run: blocked by c" });
    expect([run.finished(), run.owed.size]).toEqual([
      expect.objectContaining({ status: "failed", exit_code: 1, success_count: 1, total_count: 1 }),
      0,
    ]);
  });

  it("one that only comes too late is told, and nobody has failed", () => {
    const run = new Run({ scope: { type: "ids", ids: ["a", "b"] }, maxIssues: 1 }).prepared().pick("a");
    run.end("a", "success").arrive(left("b", null));
    expect(run.reports.at(-2)).toMatchObject({
      text: "b did not run: max_issues is 1, and others were taken before it",
    });
    expect(run.finished()).toMatchObject({ status: "succeeded", exit_code: 0 });
  });

  it.each<[string, (run: Run) => Run, string]>([
    ["stopped", (run) => run.signal("stop").end("a", "interrupted"), "the run was stopped"],
    ["drained, then stopped", (run) => run.signal("drain").signal("stop").end("a", "success"), "the run was stopped"],
    ["drained", (run) => run.signal("drain").end("a", "success"), "the run was drained"],
    ["aborted", (run) => run.end("a", "failed", { abort: true }), "the run was aborted"],
    ["out of budget", (run) => run.none("5 of 5 USD").end("a", "success"), "the run's budget is used up: 5 of 5 USD"],
    ["through", (run) => run.end("a", "success").none(), "the run ended before it"],
  ])("one that could have run is told what ended the run: %s", (_how, ends, reason) => {
    const run = ends(named("a", "b").pick("a")).arrive(left("b", null));
    expect(run.reports).toContainEqual({ type: "log", level: "warn", text: `b did not run: ${reason}` });
  });

  it("one that somebody else claimed first is asked about, one whose pull request was worked on is not", () => {
    const run = named("a", "b").pick("a").end("a", "not-claimed");
    const item = { source: "rework", issueId: "b", prNumber: 1, cycle: 1, session: null } as const;
    const start = { issueId: "b-rework-1", title: "b", life: 1, resume: null, item };
    run.arrive({ type: "picked", key: run.picking(), start }).end("b-rework-1", "success").none();
    expect(run.owed.get("named")).toEqual(look("a"));
  });

  it("after a stop they are told, and the exit code is the stop's", () => {
    const run = named("a", "b").pick("a").signal("stop").end("a", "interrupted");
    run.arrive(left("b", "blocked by a"));
    expect(run.finished()).toMatchObject({ status: "interrupted", exit_code: 130 });
  });

  it("where nobody can be asked, that is no success either; where a pick broke, nobody is asked", () => {
    const crash = { type: "crashed", effect: "named", message: "away", external: true } as const;
    const run = named("a").none();
    expect(run.arrive({ ...crash, key: "named" }).finished()).toMatchObject({ status: "failed", exit_code: 3 });
    const broken = named("a");
    broken.arrive({ ...crash, key: broken.picking(), effect: "pick" });
    expect(broken.finished()).toMatchObject({ exit_code: 3 });
  });
});
