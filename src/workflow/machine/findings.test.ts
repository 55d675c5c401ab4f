import { describe, expect, it } from "vitest";
import { contextOf, reviewFindings } from "../context.js";
import type { Graph } from "../graph.js";
import { findStale } from "./child-findings.js";
import { type Answer, failed, unbounded, World } from "./fixture.js";
import { child, decision, exit, graphOf, llm, review, tool } from "./fixture-graph.js";
import { newWorkflow } from "./state.js";

/** Both reviews always run, the gate alone routes. */
function reviewLoop(stages = [review("r1"), review("r2")]): Graph {
  const [first, second] = stages;
  return graphOf(
    [...stages, decision("gate"), llm("fix"), exit()],
    [
      `${first?.id} -> ${second?.id}`,
      `${second?.id} -> gate`,
      `gate -> exit if outcome("${first?.id}") == "success" && outcome("${second?.id}") == "success"`,
      "gate -> fix if true",
      `fix -> ${first?.id}`,
    ],
  );
}
const list = (world: World) =>
  reviewFindings(world.life).map((f) => [f.stageId, f.iteration, f.status, f.failureReason]);

describe("review.findings", () => {
  it("F1 two reviews that fail in a row both run, and one fix gets both", () => {
    const world = new World(reviewLoop());
    world.play({ r1: [failed("one")], r2: [failed("two")], fix: [null] });
    expect(world.path()).toEqual(["r1", "r2", "gate", "fix"]);
    expect(list(world)).toEqual([
      ["r1", 1, "fail", "one"],
      ["r2", 1, "fail", "two"],
    ]);
    expect(world.turns("fix")).toMatchObject([{ findings: true, review: false }]);
    expect(world.turns("r1")).toMatchObject([{ findings: false, review: true }]);
  });

  it("F1 two reviews that fail with the same words are two findings", () => {
    const world = new World(reviewLoop());
    world.play({ r1: [failed("bug")], r2: [failed("bug")], fix: [null] });
    expect(list(world).map(([stage]) => stage)).toEqual(["r1", "r2"]);
    expect(world.reported("finding-raised")).toHaveLength(2);
  });

  it("F2 what passes after the fix is gone, the rest stays; when all pass at once there is no fix", () => {
    const world = new World(reviewLoop());
    world.play({ r1: [failed("one"), "[STATUS: success]"], r2: [failed("two")], fix: ["done", null] });
    expect(list(world)).toEqual([
      ["r2", 1, "fail", "two"],
      ["r2", 2, "fail", "two"],
    ]);
    expect(world.reported("finding-resolved")).toMatchObject([{ status: "resolved", title: "one" }]);
    const clean = new World(reviewLoop()).play();
    expect(clean.path()).toEqual(["r1", "r2", "gate", "exit"]);
    expect(contextOf(clean.life, clean.policy.graph).has("review.findings")).toBe(false);
  });

  it("F3 partial_success counts, a plain llm stage's failure does not", () => {
    const partial = "[STATUS: partial_success]\n[FAILURE_REASON: nearly]";
    const world = new World(reviewLoop()).play({ r1: [partial], fix: [null] });
    expect(list(world)).toEqual([["r1", 1, "partial_success", "nearly"]]);
    const plain = new World(graphOf([llm("a"), exit()], ["a -> exit"]));
    plain.play({ a: [{ outcome: { type: "failed", reason: "exit 1" } }] });
    expect(plain.ending()).toMatchObject({ status: "fail", stage: "a" });
    expect(plain.life.ledger.findings).toEqual([]);
  });

  it("F4 a tool that fails is a finding with digest, exit code and tails, until it passes", () => {
    const world = new World(reviewLoop([review("r1"), tool("ci") as never]));
    world.play({ ci: [3, null] });
    const [finding] = reviewFindings(world.life);
    expect(finding).toMatchObject({ stageId: "ci", iteration: 1, failureReason: "ci exited with 3" });
    for (const part of ["exit code 3", "check 1", "run ci", "stdout (end):\nout", "stderr (end):\nerr"]) {
      expect(finding?.response.text).toContain(part);
    }
    world.goOn({ ci: [0] });
    expect(list(world)).toEqual([]);
    expect(world.ending()?.status).toBe("success");
  });

  it("F5 retries inside a visit leave nothing, an exhausted visit one; visits are true numbers", () => {
    const retried = review("r1", { maxAttempts: 2, retriesFail: true });
    const world = new World(reviewLoop([retried, review("r2")]), { settings: unbounded });
    const no = failed("no");
    world.play({ r1: [no, "[STATUS: success]", no, no, null] });
    expect(world.path().filter((stage) => stage === "r1")).toHaveLength(1);
    const visits = new World(reviewLoop(), { settings: unbounded });
    const r1 = [failed("a"), failed("b"), "[STATUS: success]", failed("d"), null];
    visits.play({ r1, r2: [no] });
    expect(visits.life.ledger.findings.filter((f) => f.stage === "r1").map((f) => f.visit)).toEqual([1, 2, 4]);
    expect(list(visits).filter(([stage]) => stage === "r1")).toEqual([["r1", 4, "fail", "d"]]);
    const twice = new World(reviewLoop(), { settings: unbounded });
    twice.play({ r1: [failed("a"), failed("b")], fix: ["ok", null] });
    expect(list(twice)).toEqual([
      ["r1", 1, "fail", "a"],
      ["r1", 2, "fail", "b"],
    ]);
  });

  it("F5 an exhausted visit of several attempts leaves one finding", () => {
    const retried = review("r1", { maxAttempts: 3, retriesFail: true });
    const world = new World(reviewLoop([retried, review("r2")])).play({ r1: [failed("no")], fix: [null] });
    expect(world.executions("r1")).toBe(3);
    expect(list(world)).toEqual([["r1", 1, "fail", "no"]]);
  });

  it("F6 a visit that breaks stores the error, never the old text", () => {
    const world = new World(reviewLoop());
    world.play({ r1: [failed("old"), { crash: "no disk" }], fix: ["ok", null] });
    expect(world.executions("r1")).toBe(4);
    const findings = reviewFindings(world.life);
    expect(findings.map((f) => f.iteration)).toEqual([1, 2]);
    expect(world.life.ledger.findings.map((f) => f.source)).toEqual(["review", "protocol"]);
    expect(findings[1]?.response.text).toContain("no disk");
    expect(findings[1]?.response.text).not.toContain("Found something");
  });

  it("F6 F8 a review that said something before it gave no status or broke stores what it said, with the reason", () => {
    const reply = { text: "SQL injection in db.ts:41" };
    const ref = { path: "01-r1/reply.md", bytes: 9999, sha256: "abc" };
    const found = (answer: Answer) => {
      const world = new World(reviewLoop()).play({ r1: [answer], fix: [null] });
      expect([world.executions("r1"), world.turns("fix")[0]?.findings]).toEqual([3, true]);
      const [finding] = reviewFindings(world.life);
      return [finding?.failureReason, finding?.response];
    };
    const noStatus = "the review gave no status: its reply has no valid [STATUS: …]";
    expect(found(reply.text)).toEqual([noStatus, reply]);
    const late = "the reviewer ran out of time";
    const slow = (text: object) => found({ outcome: { type: "timed-out" }, reply: text as typeof reply });
    expect(slow(reply)).toEqual([late, { text: `${late}\n\n${reply.text}` }]);
    expect(slow({ ...reply, ref })).toEqual([late, { ...reply, ref }]);
    expect(slow({ text: "" })).toEqual([late, { text: late }]);
    const silent = { outcome: { type: "timed-out" }, reply: { text: "" } } as const;
    const world = new World(reviewLoop()).play({
      r1: [reply.text, { crash: "x" }, silent, silent, silent, silent],
      fix: ["ok", null],
    });
    const texts = reviewFindings(world.life).map(({ response }) => response.text);
    expect(texts).toEqual([`${late}\n\n${reply.text}`, late]);
  });

  it.each([
    ["a review", "r1", "the review gave no status: its result file is no JSON object"],
    ["any other stage", "fix", "the agent gave no status: its result file is no JSON object"],
  ])(
    "a broken result file of %s is no pass, whatever else it said: it is tried again, then it has failed",
    (_, id, reason) => {
      const none = { failureReason: null, preferredLabel: null, nextIds: [] };
      const broken = { from: "file", status: null, broken: "is no JSON object", ...none } as const;
      const answer = { reply: { text: "[STATUS: success]" }, status: broken };
      const world = new World(reviewLoop([review("r1", { withoutStatus: "success" }), review("r2")]));
      world.play({ r1: [failed("one")], fix: [null], ...(id === "r1" ? { r1: [answer] } : {}) });
      if (id === "fix") world.goOn({ fix: [answer] });
      expect(world.executions(id)).toBe(3);
      expect(world.record(id)).toMatchObject({ outcome: "fail", reason });
    },
  );

  it("F6 an exhausted retry is a failure", () => {
    const world = new World(reviewLoop()).play({ r1: ["[STATUS: retry]\n[FAILURE_REASON: busy]"], fix: [null] });
    expect(world.executions("r1")).toBe(3);
    expect(list(world)[0]?.[2]).toBe("fail");
    expect(list(world)[0]?.[3]).toContain("busy");
  });

  it("F7 with another response key the text comes from it and the stage id stays", () => {
    const world = new World(reviewLoop([review("r1", { responseKey: "plan" }), review("r2")]));
    world.play({ r1: [failed("one")], fix: [null] });
    expect(reviewFindings(world.life)[0]).toMatchObject({ stageId: "r1", response: { text: failed("one") } });
    const context = contextOf(world.life, world.policy.graph);
    expect(context.get("plan.response")).toEqual({ json: failed("one") });
    expect(context.get("plan._full_response")).toEqual(context.get("plan.response"));
    expect(context.has("r1.response")).toBe(false);
  });

  it("F8 a text of a megabyte is kept by reference, in the state only its beginning", () => {
    const ref = { path: "01-r1/reply.md", bytes: 1_000_000, sha256: "abc" };
    const reply = { text: "x".repeat(4096), ref };
    const status = { from: "file", status: "fail", failureReason: "long", preferredLabel: null, nextIds: [] } as const;
    const world = new World(reviewLoop()).play({ r1: [{ reply, status }], fix: [null] });
    expect(reviewFindings(world.life)[0]?.response).toEqual(reply);
    expect(JSON.stringify(world.life.state).length).toBeLessThan(4000);
  });

  it("F9 cut off in the middle of the chain the findings are the same, and visit numbers go on", () => {
    const script = { r1: [failed("one")], ci: [3], fix: ["ok", null] };
    const graph = reviewLoop([review("r1"), tool("ci") as never]);
    const whole = new World(graph, { settings: unbounded }).play(script);
    const first = new World(graph, { settings: unbounded });
    first.play({ r1: script.r1, ci: [null] });
    first.signal({ name: "cancel" });
    first.goOn({ ci: [null] });
    expect(first.ending()?.status).toBe("cancelled");
    const second = new World(graph, { settings: unbounded, machine: "r1:2" }, first.life.state);
    second.life = { ...second.life, ledger: first.life.ledger };
    second.play({ r1: [failed("one")], ci: [3], fix: ["ok", null] });
    expect(list(second)).toEqual(list(whole));
    expect(list(second).map(([stage, visit]) => `${stage} ${visit}`)).toEqual(["r1 1", "ci 1", "r1 2", "ci 2"]);
  });

  it("a waived finding is no longer listed", () => {
    const world = new World(reviewLoop()).play({ r1: [failed("one")], fix: [null] });
    const finding = world.life.ledger.findings[0]?.id ?? "";
    world.signal({ name: "waive", finding, reason: "fine" });
    expect(list(world)).toEqual([]);
  });

  it("what a called workflow leaves open is open here, in order, as long as it is there; its success clears all", () => {
    const graph = graphOf(
      [review("r1"), child("w"), decision("gate"), llm("fix"), exit()],
      ["r1 -> w", "w -> gate", 'gate -> exit if outcome("w") == "success"', "gate -> fix if true", "fix -> r1"],
    );
    const place = { file: "", line_start: 0, line_end: 0, priority: null, commit: null };
    const open = (stage: string) =>
      ({ ...place, id: stage, stage, source: "review", outcome: "fail", title: stage, body: { text: stage } }) as const;
    const world = new World(graph).play({ r1: [failed("one")], w: [{ open: [open("b"), open("a")] }], fix: [null] });
    expect(list(world)).toEqual([
      ["r1", 1, "fail", "one"],
      ["w/b", 1, "fail", "b"],
      ["w/a", 1, "fail", "a"],
    ]);
    world.goOn({ r1: ["[STATUS: success]"], w: [{ open: [open("a")] }], fix: ["ok", null] });
    expect(list(world)).toEqual([["w/a", 1, "fail", "a"]]);
    world.goOn();
    expect([world.ending()?.status, list(world)]).toEqual(["success", []]);
    const told = [...world.reported("finding-raised"), ...world.reported("finding-resolved")];
    expect(told.filter(({ copied }) => !copied).map(({ title }) => title)).toEqual(["one", "one"]);
  });

  it("what a called workflow has open and passes with is told as settled by the name that it was raised by", () => {
    const graph = graphOf(
      [child("w"), llm("fix"), exit()],
      ['w -> exit if outcome("w") == "success"', 'w -> fix if outcome("w") != "success"', "fix -> w"],
    );
    const place = { file: "", line_start: 0, line_end: 0, priority: null, commit: null, body: { text: "a" } };
    const open = { ...place, id: "x1", stage: "a", source: "review", outcome: "fail", title: "a" } as const;
    const world = new World(graph).play({ w: [{ open: [open] }, null] });
    world.arrive({ type: "child-ended", key: "stage:w:v2:a1", outcome: "success", reason: null, findings: [open] });
    expect([world.ending()?.status, list(world)]).toEqual(["success", []]);
    const told = world.reported("finding-resolved").filter(({ copied }) => !copied);
    expect(told.map(({ finding }) => finding)).toEqual(["x1"]);
  });

  it("however many workflows call one another, a finding is settled by the name that it was raised by", () => {
    const graph = graphOf(
      [child("w"), llm("fix"), exit()],
      ['w -> exit if outcome("w") == "success"', 'w -> fix if outcome("w") != "success"', "fix -> w"],
    );
    const place = { file: "", line_start: 0, line_end: 0, priority: null, commit: null, body: { text: "a" } };
    const open = { ...place, id: "x1", stage: "a", source: "review", outcome: "fail", title: "a" } as const;
    const inner = new World(graph).play({ w: [{ open: [open] }], fix: [null] });
    const [copy] = inner.life.ledger.findings;
    expect(copy).toMatchObject({ raised_as: "x1", status: "open" });
    const outer = new World(graph).play({ w: [{ open: [{ ...open, ...copy }] }, null] });
    const findings = [{ ...open, ...copy }];
    outer.arrive({ type: "child-ended", key: "stage:w:v2:a1", outcome: "success", reason: null, findings });
    const told = outer.reported("finding-resolved").filter(({ copied }) => !copied);
    expect([outer.ending()?.status, told.map(({ finding }) => finding)]).toEqual(["success", ["x1"]]);
  });

  it("a called workflow's success settles nothing of a stage whose name begins like it", () => {
    const graph = graphOf(
      [tool("w/ci"), child("w"), llm("last")],
      ['w/ci -> w if outcome("w/ci") == "fail"', "w -> last"],
    );
    const world = new World(graph).play({ "w/ci": [1], last: [null] });
    expect([world.record("w").outcome, list(world).map(([stage]) => stage)]).toEqual(["success", ["w/ci"]]);
  });

  it("F5 attempts of a called workflow that another one follows leave nothing behind, earlier visits do", () => {
    const graph = graphOf([tool("ci"), exit()], ["ci -> exit"]);
    const first = new World(graph, { machine: "r1/w-v1-a1" }).play({ ci: [1] });
    const visit = { ledger: { issueId: "r1", findings: [] }, runId: "r1", stage: "w" };
    const stale = findStale(first.life.ledger, visit);
    expect(stale).toHaveLength(1);
    const second = new World(graph, { machine: "r1/w-v1-a2" }, { ...newWorkflow(), stale });
    second.life = { ...second.life, ledger: first.life.ledger };
    second.play({ ci: [2] });
    expect(second.life.ledger.findings.map(({ status }) => status)).toEqual(["superseded", "open"]);
    const taken = new World(graphOf([child("w"), exit()], ["w -> exit"])).play({
      w: [{ open: second.life.ledger.findings.filter(({ status }) => status === "open") }],
    });
    expect(findStale(second.life.ledger, { ...visit, ledger: taken.life.ledger })).toEqual([]);
  });
});
