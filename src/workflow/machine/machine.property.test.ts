import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyLedger } from "../../core/ledger/ledger.js";
import type { Graph, Stage, Transition } from "../graph.js";
import { type Answer, unbounded, World } from "./fixture.js";
import { decision, exit, graphOf, human, join, llm, named, parallel, review, tool, way } from "./fixture-graph.js";
import { raisesFindings } from "./graph-index.js";
import { newWorkflow, type WorkflowLife, workflowMachine } from "./machine.js";

const names = ["a", "b", "c", "d", "e"];
const places = [...names, "p", "exit"];
const stageOf = (id: string): fc.Arbitrary<Stage> =>
  fc
    .record({
      kind: fc.constantFrom("tool", "llm", "review", "decision", "human"),
      maxVisits: fc.integer({ min: 1, max: 4 }),
      maxAttempts: fc.integer({ min: 1, max: 3 }),
      retriesFail: fc.boolean(),
      goalGate: fc.boolean(),
      retryTarget: fc.option(fc.constantFrom(...names).map(named), { nil: null, freq: 4 }),
      delayMs: fc.constantFrom(0, 1000),
      to: fc.tuple(fc.constantFrom(...places), fc.constantFrom(...places)),
    })
    .map(({ kind, delayMs, to, ...some }) => {
      const backoff = { kind: "fixed" as const, delayMs, maxDelayMs: 5000 };
      const patch = { ...some, backoff };
      if (kind === "tool") return tool(id, patch);
      if (kind === "llm") return llm(id, patch);
      if (kind === "review") return review(id, patch);
      if (kind === "decision") return { ...decision(id), maxVisits: some.maxVisits };
      return { ...human(id, to, { timeoutMs: 1000, default: named(to[0]) }), maxVisits: some.maxVisits };
    });

const conditions = [
  "",
  "",
  ...["success", "fail"].map((word) => ` if outcome("SELF") == "${word}"`),
  ' if exists("b.status")',
];
const wayBetween: fc.Arbitrary<Transition> = fc
  .record({
    from: fc.constantFrom(...names, "j"),
    to: fc.constantFrom(...places, "j"),
    when: fc.constantFrom(...conditions),
    priority: fc.integer({ min: 0, max: 2 }),
    restart: fc.boolean(),
  })
  .map(({ from, to, when, priority, restart }) =>
    way(`${from} -> ${to}${when.replace("SELF", from)}`, { priority, restart: restart && priority > 1 }),
  );

const graph: fc.Arbitrary<Graph> = fc
  .record({
    stages: fc.tuple(...names.map(stageOf)),
    branches: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
    maxParallel: fc.integer({ min: 1, max: 3 }),
    branchTimeoutMs: fc.constantFrom(null, 1500),
    policy: fc.constantFrom("all", "any", "quorum"),
    ways: fc.array(wayBetween, { minLength: 8, maxLength: 24 }),
    format: fc.constantFrom("kdl", "dot"),
  })
  .map(({ stages, branches, maxParallel, branchTimeoutMs, policy, ways, format }) => {
    const fork = { ...parallel("p", branches, { maxParallel, branchTimeoutMs, join: named("j") }), maxVisits: 2 };
    return graphOf([...stages, fork, join("j", { policy, quorum: 2, maxVisits: 3 }), exit()], ways, { format });
  });

const answers: readonly Answer[] = [
  0,
  1,
  "fine\n[STATUS: success]",
  "[STATUS: fail]\n[FAILURE_REASON: bad]",
  "[STATUS: partial_success]",
  "[STATUS: retry]",
  "no marker",
  "",
  { crash: "boom" },
  { outcome: { type: "transient", reason: "429" }, failure: null },
  { outcome: { type: "lost" }, exitCode: 3 },
];

interface Played {
  readonly graph: Graph;
  readonly choices: readonly number[];
  readonly cancelAt: number | null;
  readonly budgetAt: number | null;
}
const played: fc.Arbitrary<Played> = fc.record({
  graph,
  choices: fc.array(fc.nat({ max: 1000 }), { minLength: 5, maxLength: 40 }),
  cancelAt: fc.option(fc.nat({ max: 12 }), { nil: null, freq: 3 }),
  budgetAt: fc.option(fc.nat({ max: 12 }), { nil: null, freq: 3 }),
});

function play(
  { graph: flow, choices, cancelAt, budgetAt }: Played,
  state = newWorkflow(),
  ledger = emptyLedger("r1"),
): World {
  const world = new World(flow, { settings: unbounded }, state);
  world.life = { ...world.life, ledger };
  let drawn = 0;
  const draw = (): number => choices[drawn++ % choices.length] ?? 0;
  const rule = (): Answer => answers[draw() % answers.length] ?? 0;
  const script = Object.fromEntries(names.map((name) => [name, rule]));
  let steps = 0;
  world.arrive({ type: "started" });
  return world.goOn(script, () => {
    steps += 1;
    if (steps === budgetAt) world.signal({ name: "budget", reason: "5 of 5 USD" });
    if (steps === cancelAt) world.signal({ name: "cancel" });
    if (draw() % 5 === 0) world.arrive({ type: "resumed" });
    return draw() % Math.max(1, world.owed.size);
  });
}

describe("any workflow with any outcomes", () => {
  it("ends, owes nothing then, owes no key twice and decides the same after every restart", () => {
    fc.assert(
      fc.property(played, (one) => {
        const world = play(one);
        expect(world.life.state.phase).toBe("done");
        expect(world.ending()).not.toBeNull();
        expect(world.owed.size).toBe(0);
        expect(world.life.state.owed).toEqual([]);
        expect(world.reported("workflow-finished")).toHaveLength(1);
        expect(world.ending()?.reason === null).toBe(world.ending()?.status === "success");
      }),
      { numRuns: 120 },
    );
  });

  it("is what folding its arrivals gives, and never changes once it ended", () => {
    fc.assert(
      fc.property(played, (one) => {
        const world = play(one);
        const machine = workflowMachine(world.policy);
        const fresh: WorkflowLife = { state: newWorkflow(), ledger: emptyLedger("r1") };
        const folded = world.events.reduce((life, event) => machine(life, event).state, fresh);
        expect(folded).toEqual(world.life);
        const late = { type: "timer-fired", key: "timer:1", at: world.at } as const;
        expect(machine(world.life, late)).toEqual({ state: world.life, effects: [] });
      }),
      { numRuns: 50 },
    );
  });

  it("succeeds only by way of the exit, with every goal gate met and every failure led on by the workflow", () => {
    fc.assert(
      fc.property(played, (one) => {
        const world = play(one);
        if (world.ending()?.status !== "success") return;
        const stages = new Map(one.graph.stages.map((stage) => [stage.id, stage]));
        for (const { id, goalGate } of one.graph.stages) {
          if (goalGate) expect(world.record(id).outcome).not.toBe("fail");
        }
        expect(world.path().at(-1)).toBe("exit");
        for (const from of leftAfterFailure(world, stages)) expect(from).toBe("led on");
      }),
      { numRuns: 120 },
    );
  });

  it("lists a stage's findings exactly from its failures to its next success", () => {
    fc.assert(
      fc.property(played, (one) => {
        const world = play({ ...one, graph: { ...one.graph, transitions: one.graph.transitions.map(noRestart) } });
        for (const stage of one.graph.stages.filter(raisesFindings)) {
          const ends = world.reported("stage-ended").filter((report) => report.stage === stage.id);
          const since = ends.slice(ends.findLastIndex(({ outcome }) => outcome === "success") + 1);
          const open = world.life.ledger.findings.filter((f) => f.stage === stage.id && f.status === "open");
          expect(open.map(({ visit }) => visit)).toEqual(since.map(({ visit }) => visit));
        }
      }),
      { numRuns: 80 },
    );
  });

  it("goes on after any ending without success, as often as it is asked to, and its state does not grow with visits", () => {
    fc.assert(
      fc.property(played, (one) => {
        let { life } = play(one);
        for (let again = 0; again < 3 && life.state.ending?.status !== "success"; again += 1) {
          const world = play({ ...one, cancelAt: null }, life.state, life.ledger);
          expect(world.owed.size).toBe(0);
          life = world.life;
        }
        expect(JSON.stringify(life.state).length).toBeLessThan(12_000);
      }),
      { numRuns: 50 },
    );
  });
});

function noRestart(transition: Transition): Transition {
  return { ...transition, restart: false };
}

/** For each failed stage of the main line that is no review: whether what led on from it was meant for failures. */
function leftAfterFailure(world: World, stages: ReadonlyMap<string, Stage>): string[] {
  const { transitions } = world.policy.graph;
  if (world.path().includes("p")) return [];
  const failures = world.reports.flatMap((report, at) =>
    report.type === "stage-ended" && report.outcome === "fail" ? [{ at, stage: stages.get(report.stage) }] : [],
  );
  return failures.flatMap(({ at, stage }) => {
    if (!stage || stage.kind === "exit" || (stage.kind === "llm" && stage.autoStatus)) return [];
    const edge = world.reports.slice(at).find((report) => report.type === "edge-taken");
    if (edge?.type !== "edge-taken") return [`${stage.id} went nowhere`];
    const meant = transitions.some(
      (one) =>
        one.from.name === stage.id &&
        one.to.name === edge.to &&
        (one.when !== null || stages.get(edge.to)?.kind === "decision"),
    );
    return [meant || stage.retryTarget?.name === edge.to ? "led on" : `${stage.id} -> ${edge.to}`];
  });
}
