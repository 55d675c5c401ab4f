import { describe, expect, it } from "vitest";
import type { RunEvent } from "./effects.js";
import { epicCompletion, periodic, Run, runEnd, triggers } from "./fixture.js";
import type { RunPolicy } from "./step.js";

type TriggerEnded = Extract<RunEvent, { type: "trigger-ended" }>;
type EpicChecked = Extract<RunEvent, { type: "epic-checked" }>;

const top = { id: "e", isTop: true };
const owedOf = (run: Run, kind: string) => [...run.owed.values()].filter((one) => one.kind === kind);
const logs = (run: Run) => run.reports.flatMap((one) => (one.type === "log" ? [one.text] : []));
const firing = (run: Run) =>
  [...run.owed.values()].flatMap((one) =>
    one.kind === "trigger" ? [`${one.start.name} ${one.start.epic ?? ""}`.trim()] : [],
  );

function begin(policy: Partial<RunPolicy>): Run {
  return new Run(policy).prepared();
}
function inEpic(run: Run, id: string): Run {
  const start = { issueId: id, title: id, life: 1, resume: null, parent: "e" };
  return run.arrive({ type: "picked", key: run.picking(), start });
}
function looked(run: Run, epic: EpicChecked["epic"], how?: EpicChecked["how"]): Run {
  const key = owedOf(run, "epic")[0]?.key ?? "";
  const why = how === "unmerged" ? { why: "a is on ratchet/a and not merged yet" } : {};
  return run.arrive({ type: "epic-checked", key, epic, ...(how ? { how } : {}), ...why });
}
const seen = (run: Run, ...due: (typeof top)[]) =>
  run.arrive({ type: "epics-seen", key: owedOf(run, "epics")[0]?.key ?? "", due });
function ended(run: Run, patch: Partial<TriggerEnded> = {}): Run {
  const key = owedOf(run, "trigger")[0]?.key ?? "";
  const nothing = { reason: null, commands: [], code_review_result: null, abort: false, trackerOwed: false };
  return run.arrive({ type: "trigger-ended", key, result: "pass", folders: 1, ...nothing, ...patch });
}
const lacking = { result: "fail", reason: "code_review", followUp: "f" } as const;

describe("the verification of an epic", () => {
  it("comes before its completion, which fires; the run goes on with what waited for it", () => {
    const run = begin({ verify: "now", triggers: triggers({ epic_completion: epicCompletion() }) });
    inEpic(run, "a").none().end("a", "success").none();
    expect(owedOf(run, "epic")).toMatchObject([{ child: "a", verify: true }]);
    looked(run, top, "due");
    expect(firing(run)).toEqual(["epic_verification e"]);
    ended(run);
    expect(logs(run)).toContain("epic e completed: all of its children are, and it was verified");
    expect(run.picking()).not.toBe("no pick is owed");
    expect(firing(run)).toEqual(["epic_completion"]);
    ended(run).none();
    expect(run.finished()).toMatchObject({ exit_code: 0 });
  });

  it("that finds defects leaves it open: the issue for them is taken, then it is verified again", () => {
    const run = begin({ verify: "now" });
    inEpic(run, "a").none().end("a", "success").none();
    ended(looked(run, top, "due"), lacking);
    expect(logs(run).at(-1)).toBe(
      "epic e is not completed: its verification failed (code_review); f is to be done first",
    );
    inEpic(run, "f").none().end("f", "success").none();
    ended(looked(run, top, "due")).none();
    expect(run.finished()).toMatchObject({ status: "succeeded", exit_code: 0 });
  });

  it("is done three times at most, and an epic that stays open makes exit 1", () => {
    const run = begin({ verify: "now" });
    for (const id of ["a", "b", "c"]) {
      inEpic(run, id).none().end(id, "success").none();
      ended(looked(run, top, "due"), lacking);
    }
    inEpic(run, "d").none().end("d", "success").none();
    looked(run, top, "due");
    expect(firing(run)).toEqual([]);
    expect(looked(run, null).finished()).toMatchObject({ status: "failed", exit_code: 1, success_count: 4 });
  });

  it("that passed while a child was added has not failed, and the run goes on with the child", () => {
    const run = begin({ verify: "now" });
    inEpic(run, "a").none().end("a", "success").none();
    ended(looked(run, top, "due"), { result: "fail", reason: "not_due" });
    expect(run.reports).toContainEqual(expect.objectContaining({ type: "trigger-completed", result: "skipped" }));
    expect(run.none().finished()).toMatchObject({ exit_code: 0 });
  });

  it.each([
    ["somebody has completed by then: that is no failure", top, 0],
    ["is still open: exit 1", null, 1],
  ])("in vain is asked about once, when all else is over, of an epic that %s", (_, done, code) => {
    const run = begin({ verify: "now", triggers: triggers({ run_end: runEnd() }) });
    inEpic(run, "a").none().end("a", "success").none();
    ended(looked(run, top, "due"), lacking);
    inEpic(run, "f").none().end("f", "success").none();
    ended(looked(run, top, "due"), { result: "fail", reason: "not_due" }).none();
    expect(firing(run)).toEqual(["run_end"]);
    ended(run);
    expect(owedOf(run, "epic")).toMatchObject([{ verified: "e" }]);
    looked(run, done, done === null ? undefined : "done");
    expect(run.finished()).toMatchObject({ exit_code: code });
    expect(logs(run).filter((text) => text.startsWith("epic e completed"))).toEqual([]);
  });

  it("in vain is asked nothing more of by a run that was told to end, nor where the tracker cannot be asked", () => {
    const begun = () => {
      const run = begin({ verify: "now" });
      inEpic(run, "a").none().end("a", "success").none();
      return ended(looked(run, top, "due"), lacking);
    };
    expect(begun().signal("drain").finished()).toMatchObject({ exit_code: 130 });
    const run = begun().none();
    const key = owedOf(run, "epic")[0]?.key ?? "";
    run.arrive({ type: "crashed", key, effect: "epic", message: "no tracker", external: true });
    expect(run.finished()).toMatchObject({ exit_code: 3 });
  });

  it("that somebody else does is left to them", () => {
    const run = begin({ verify: "now" });
    inEpic(run, "a").none().end("a", "success").none();
    ended(looked(run, top, "due"), { result: "fail", reason: "not_claimed" });
    expect(run.reports).toContainEqual(expect.objectContaining({ type: "trigger-completed", result: "skipped" }));
    expect(run.finished()).toMatchObject({ exit_code: 0 });
  });

  it("is left to the next run by one that may not review", () => {
    const run = begin({ verify: "later" });
    inEpic(run, "a").none().end("a", "success").none();
    looked(run, top, "due");
    expect(logs(run)).toEqual(["epic e is due: the next run verifies it"]);
    expect(run.finished()).toMatchObject({ exit_code: 0 });
  });
});

describe("while the run ends", () => {
  const begun = (verify: RunPolicy["verify"] = "never") =>
    inEpic(begin({ verify, triggers: triggers({ epic_completion: epicCompletion() }) }), "a").none();
  const told = (run: Run) => run.reports.flatMap((one) => (one.type === "trigger-completed" ? [one] : []));
  const skipped = (trigger: string) => ({ trigger, about: "epic_id=e", result: "skipped", reason: "run_aborted" });

  it("no epic is looked at: the next run completes it", () => {
    const run = begun().signal("drain").end("a", "success");
    expect([owedOf(run, "epic"), run.finished()]).toMatchObject([[], { exit_code: 130 }]);
  });

  it("one that was completed in the same moment has its trigger told as skipped", () => {
    const run = begun().end("a", "success").none().signal("drain");
    expect(told(looked(run, top))).toMatchObject([skipped("epic_completion")]);
    expect(run.finished()).toMatchObject({ exit_code: 130 });
  });

  it("a trigger that had to wait for another is told as skipped", () => {
    const policy = { epic_completion: epicCompletion(), periodic: periodic(1) };
    const run = inEpic(begin({ verify: "never", triggers: triggers(policy) }), "a").none();
    looked(run.end("a", "success"), top);
    expect(firing(run)).toEqual(["periodic"]);
    expect(told(run.signal("drain"))).toMatchObject([skipped("epic_completion")]);
  });

  it("a verification that passed and completed nothing is told as skipped, and that the next run does it", () => {
    const run = begun("now").end("a", "success").none();
    looked(run, top, "due").signal("drain");
    ended(run, { result: "fail", reason: "run_aborted" });
    expect(told(run)).toMatchObject([skipped("epic_verification")]);
    expect(logs(run)).toContain("epic e is not completed, because the run ends: the next one verifies it");
  });
});

describe("epics that others have completed", () => {
  it("are found at the start, on changes of the board and before the end", () => {
    const run = begin({ findsEpics: true, verify: "never" });
    seen(run, top);
    expect(owedOf(run, "epic")).toMatchObject([{ epic: "e" }]);
    looked(run, top);
    run.pick("x").none();
    run.arrive({ type: "board-changed", key: owedOf(run, "board")[0]?.key ?? "" });
    seen(run).none().end("x", "success").none();
    expect(run.finished()).toBeUndefined();
    seen(run);
    expect(run.finished()).toMatchObject({ exit_code: 0 });
  });

  it("and that the board has shown are seen to without another look", () => {
    const run = begin({ findsEpics: true, verify: "now" });
    seen(run).pick("x").noneHeard();
    run.arrive({ type: "board-changed", key: owedOf(run, "board")[0]?.key ?? "", due: [top] });
    expect(firing(run)).toEqual(["epic_verification e"]);
    expect(owedOf(run, "epics")).toEqual([]);
    run.noneHeard();
    ended(run);
    // What waited for it is told by the board.
    expect(run.picking()).toBe("no pick is owed");
    expect(owedOf(run, "board")).toHaveLength(1);
  });

  it("and that a pick has found in place of an issue are seen to: of what was before it the board does not tell", () => {
    const run = begin({ findsEpics: true, verify: "never" });
    expect(owedOf(run, "pick")).toMatchObject([{ epics: true }]);
    seen(run)
      .pick("x")
      .arrive({ type: "none-left", key: run.picking(), cursor: 7, hears: true, due: [top] });
    expect(owedOf(run, "epic")).toMatchObject([{ epic: "e" }]);
    expect(owedOf(run, "board")).toMatchObject([{ cursor: 7 }]);
    expect(owedOf(begin({ findsEpics: true, verify: "later" }), "pick")[0]).not.toHaveProperty("epics");
  });

  it("are verified once: in vain, they wait for a change of their own", () => {
    const run = begin({ findsEpics: true, verify: "now" });
    seen(run, top).none();
    ended(run, { result: "fail", reason: "code_review" }).none();
    seen(run, top);
    expect(firing(run)).toEqual([]);
    expect(looked(run, null).finished()).toMatchObject({ exit_code: 1 });
  });

  it("are not looked for by a run that was told to end", () => {
    const run = begin({ findsEpics: true }).pick("x").signal("drain").end("x", "success");
    seen(run);
    expect(run.finished()).toMatchObject({ exit_code: 130 });
  });
});

describe("an epic whose work is on branches", () => {
  const waits = "epic e is not completed yet: a is on ratchet/a and not merged yet";
  const board = (run: Run) => owedOf(run, "board")[0]?.key ?? "";

  it("is neither verified nor completed, and its parent is not looked at; the run says why and ends well", () => {
    for (const verify of ["now", "never"] as const) {
      const run = begin({ verify, triggers: triggers({ epic_completion: epicCompletion("all", "both") }) });
      inEpic(run, "a").none().end("a", "success").none();
      looked(run, { id: "e", isTop: false }, "unmerged");
      expect(firing(run)).toEqual([]);
      expect(logs(run)).toContain(waits);
      expect(run.finished()).toMatchObject({ exit_code: 0 });
    }
  });

  it("is verified once they are merged, also after a verification in vain", () => {
    const run = begin({ findsEpics: true, verify: "now", watch: true });
    seen(run, top).noneHeard();
    ended(run, lacking);
    inEpic(run.arrive({ type: "board-changed", key: board(run), due: [] }), "f").noneHeard();
    looked(run.end("f", "success").noneHeard(), top, "unmerged");
    seen(run);
    expect(firing(run)).toEqual([]);
    run.arrive({ type: "board-changed", key: board(run), due: [top] });
    expect(firing(run)).toEqual(["epic_verification e"]);
    ended(run, { result: "fail", reason: "code_review" }).noneHeard();
    seen(run, top);
    expect(firing(run)).toEqual([]);
  });

  it("is looked for by a run that goes on to wait, and by who takes a waiting run up again", () => {
    const run = begin({ findsEpics: true, verify: "never", watch: true }).pick("x");
    seen(run).noneHeard().end("x", "success").noneHeard();
    expect(owedOf(run, "epics")).toHaveLength(1);
    seen(run).arrive({ type: "resumed" });
    expect(owedOf(run, "epics")).toHaveLength(1);
    expect(owedOf(seen(run), "board")).toHaveLength(1);
  });
});

describe("epic_completion on failure", () => {
  const both = (fireOn: "failure" | "both" | "success") =>
    begin({ triggers: triggers({ epic_completion: epicCompletion("all", fireOn) }) });

  it.each([
    ["failure", ["epic_completion"]],
    ["both", ["epic_completion"]],
    ["success", []],
  ] as const)("with fire_on %s, an epic none of whose issues can go on fires %j", (fireOn, fired) => {
    const run = both(fireOn);
    inEpic(run, "a").none().end("a", "failed").none();
    if (fireOn !== "success") looked(run, top, "failed");
    expect(firing(run)).toEqual(fired);
    for (const _ of fired) ended(run);
    if (fireOn !== "success") looked(run, top, "failed");
    expect(run.finished()).toMatchObject({ exit_code: 1 });
    expect(run.reports.filter((one) => one.type === "trigger-started")).toHaveLength(fired.length);
  });

  it("looks again when nothing is left, because the others may have waited for the one that failed", () => {
    const run = both("failure");
    inEpic(run, "a").none().end("a", "escalated").none();
    looked(run, null);
    expect(owedOf(run, "epic")).toMatchObject([{ child: "a", failing: "at-last" }]);
    looked(run, top, "failed");
    expect(firing(run)).toEqual(["epic_completion"]);
  });

  it.each([
    [["b"], "b can still go on without it"],
    [["b", "c", "d", "e", "f", "g", "h"], "b, c, d, e, f and 2 more can still go on without it"],
  ])("says so where the run has nothing left to do and %j can go on", (open, said) => {
    const run = both("failure");
    inEpic(run, "a").none().end("a", "failed").none();
    looked(run, null);
    run.arrive({ type: "epic-checked", key: owedOf(run, "epic")[0]?.key ?? "", epic: top, how: "unfinished", open });
    const text = `epic e failed: this run has nothing left to do, and ${said}`;
    expect(run.reports).toContainEqual({ type: "log", level: "warn", text });
    expect(firing(run)).toEqual(["epic_completion"]);
  });

  it("looks after a success only for what has failed in this run and not succeeded since", () => {
    const run = inEpic(inEpic(inEpic(both("failure"), "a"), "b"), "c").none();
    run.end("a", "success");
    expect(owedOf(run, "epic")[0]).not.toHaveProperty("failing");
    looked(run, null);
    looked(run.end("b", "failed").none(), null);
    run.end("c", "success");
    expect(owedOf(run, "epic")).toMatchObject([{ child: "c", failing: "so-far", failed: ["b"] }]);
    looked(run, null);
    const again = { issueId: "b", title: "b", life: 2, resume: null, again: true, parent: "e" };
    run.arrive({ type: "picked", key: run.picking(), start: again }).none();
    run.end("b", "success", { key: "child:b:2" });
    expect(owedOf(run, "epic")[0]).not.toHaveProperty("failing");
  });

  it("fires when a verification failed, and goes up to the epic above", () => {
    const run = begin({ verify: "now", triggers: triggers({ epic_completion: epicCompletion("all", "failure") }) });
    inEpic(run, "a").none().end("a", "success").none();
    ended(looked(run, { id: "e", isTop: false }, "due"), { result: "fail", reason: "code_review" });
    expect(firing(run)).toEqual(["epic_completion"]);
    expect(owedOf(run, "epic")).toMatchObject([{ child: "e", failing: "so-far" }]);
  });
});
