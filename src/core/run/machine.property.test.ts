import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Stamped } from "../issue/events.js";
import type { RunReport } from "../report.js";
import type { TriggerSettings } from "../settings.js";
import type { RunEffect, RunEvent } from "./effects.js";
import { epicCompletion, periodic, runEnd, triggers } from "./fixture.js";
import { newRun, type RunPolicy, type RunState, runMachine } from "./machine.js";

const statuses = ["success", "failed", "escalated", "interrupted", "not-claimed"] as const;

const parentOf = (n: number) => (n % 2 === 0 ? `e${n % 5}` : null);
const epicOf = (n: number) => ({ id: `e${n % 5}`, isTop: n % 2 === 0 });
const sometimes = [
  {},
  { run_end: runEnd() },
  { run_end: runEnd("failure"), periodic: periodic(2) },
  { run_end: runEnd("both"), periodic: periodic(1), epic_completion: epicCompletion("all") },
  { epic_completion: epicCompletion("all", "both") },
];

/** Answers what is owed as the numbers say, and in the end benignly. */
function answer(effect: RunEffect, choose: () => number): RunEvent | null {
  const { key } = effect;
  const n = choose();
  if (n % 17 === 3 && effect.kind !== "wait") {
    return { type: "crashed", key, effect: effect.kind, message: "broke", external: n % 2 === 0 };
  }
  switch (effect.kind) {
    case "prepare":
      return { type: "prepared", key, target: "main", tip: "c0", projectId: "p", repoPath: "/r" };
    case "pick":
      if (n % 3 === 0) {
        const due = "epics" in effect && n % 5 === 0 ? { due: [epicOf(n)] } : {};
        return { type: "none-left", key, ...(n % 2 === 0 ? { cursor: n, hears: true } : {}), ...due };
      }
      return {
        type: "picked",
        key,
        start: { issueId: `i${key}`, title: "t", life: 1, resume: null, parent: parentOf(n) },
      };
    case "child": {
      const status = statuses[n % statuses.length] ?? "failed";
      const behind = status === "success" && n % 3 === 0 ? { behind: true as const } : {};
      const flags = { trackerOwed: n % 23 === 1, abort: status === "failed" && n % 7 === 1, ...behind };
      return { type: "child-ended", key, issueId: effect.start.issueId, status, commit: null, ...flags };
    }
    case "trigger": {
      const result = n % 4 === 0 ? "fail" : "pass";
      const nothing = { reason: null, commands: [], code_review_result: null, trackerOwed: n % 29 === 1 };
      return { type: "trigger-ended", key, result, ...nothing, folders: n, abort: n % 8 === 0 };
    }
    case "epic": {
      if ("verified" in effect) {
        const epic = n % 2 === 0 ? null : { id: effect.verified, isTop: true };
        return { type: "epic-checked", key, epic, ...(epic && { how: "done" as const }) };
      }
      const how = n % 5 === 1 ? { how: "failed" as const } : "verify" in effect ? { how: "due" as const } : {};
      return { type: "epic-checked", key, epic: n % 3 === 0 ? null : epicOf(n), ...how };
    }
    case "epics":
      return { type: "epics-seen", key, due: n % 3 === 0 ? [] : [epicOf(n), epicOf(n + 1)] };
    case "board":
      return { type: "board-changed", key, ...("epics" in effect && n % 2 === 0 ? { due: [epicOf(n)] } : {}) };
    case "follow":
      return { type: "followed", key, target: "main", behind: n % 2 === 0 ? null : "main is behind" };
    case "named": {
      const reason = n % 3 === 0 ? null : "blocked by another";
      return { type: "named-seen", key, left: n % 2 === 0 ? [] : effect.ids.map((issueId) => ({ issueId, reason })) };
    }
    case "tell":
      return { type: "told", key };
    case "wait":
      if (n % 13 === 1) return { type: "signal", key, signal: { name: "budget", reason: "5 of 5 USD" } };
      return n % 11 === 1 ? { type: "signal", key, signal: { name: n % 2 === 0 ? "drain" : "stop" } } : null;
    case "timer":
      return { type: "timer-fired", key };
  }
}

/** One run, answered as the numbers say. */
function playRun(policy: RunPolicy, numbers: readonly number[]) {
  const transition = runMachine(policy);
  const rest = [...numbers];
  const choose = () => rest.shift() ?? 0;
  const owed = new Map<string, RunEffect>();
  const keys = new Set<string>();
  const reports: RunReport[] = [];
  const arrivals: Stamped<RunEvent>[] = [];
  let state = newRun();
  const arrive = (event: RunEvent) => {
    if ("key" in event) owed.delete(event.key);
    arrivals.push({ ...event, at: 1 });
    const next = transition(state, { ...event, at: 1 });
    state = next.state;
    for (const key of next.cancel ?? []) owed.delete(key);
    for (const effect of next.effects) {
      if (keys.has(effect.key)) throw new Error(`${effect.key} is owed twice`);
      keys.add(effect.key);
      owed.set(effect.key, effect);
    }
    reports.push(...(next.reports ?? []));
  };
  arrive({ type: "started" });
  for (let steps = 0; owed.size > 0; steps += 1) {
    if (steps > 5000) throw new Error("the run does not end");
    const effects = [...owed.values()];
    const effect = effects[choose() % effects.length] ?? effects[0];
    const busy = effects.find(({ kind }) => kind !== "wait");
    const event = (effect && answer(effect, choose)) ?? (busy && answer(busy, choose));
    if (!event) throw new Error("only a signal is owed: the run is stuck");
    arrive(event);
  }
  return { state, reports, arrivals, transition };
}

const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const runs = fc.record({
  numbers: fc.array(fc.nat(9999), { maxLength: 200, size: "max" }),
  maxIssues: fc.option(fc.nat(5)),
  minutes: fc.constantFrom(null, 1),
  some: fc.constantFrom<Partial<TriggerSettings>>(...sometimes),
  verify: fc.constantFrom("now" as const, "later" as const, "never" as const),
  findsEpics: fc.boolean(),
  livesMax: fc.constantFrom(1, 3, 64),
  named: fc.boolean(),
});
function play({ numbers, maxIssues, minutes, some, named, ...epics }: Parameters<Parameters<typeof runs.map>[0]>[0]) {
  const scope = named ? ({ type: "ids", ids: ["ipick:1", "ipick:2", "stuck"] } as const) : ({ type: "all" } as const);
  const options = { scope, resume: false, strict: false, fresh: false, maxIssues } as const;
  return playRun({ ...options, ...epics, minutes, triggers: triggers(some) }, numbers);
}

describe("whatever happens to a run", () => {
  it("it ends once, with nothing owed and no key owed twice, and its exit code says the worst that happened", () => {
    fc.assert(
      fc.property(runs, (chosen) => {
        const { state, reports } = play(chosen);
        const codes = reports.flatMap((report) => (report.type === "run-finished" ? [report.exit_code] : []));
        expect(state.phase).toBe("done");
        expect(codes).toEqual([state.exitCode]);
        if (state.failed > 0 || state.budget || state.triggers?.failed) expect(state.exitCode).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
  });

  it("run_end starts and completes once, or is skipped once; where there is none only the end of a run that was told to end speaks of it", () => {
    fc.assert(
      fc.property(runs, (chosen) => {
        const { state, reports } = play(chosen);
        const told = reports.filter(({ type }) => type.startsWith("run-end"));
        const either = [["run-end-skipped"], ["run-end-started", "run-end-completed"]];
        const none = state.draining || state.stopping || state.aborting ? [["run-end-skipped"]] : [[]];
        expect(chosen.some.run_end ? either : none).toContainEqual(told.map(({ type }) => type));
      }),
      { numRuns: 300 },
    );
  });

  it("an epic is told completed once, and where there is a reviewer only after its verification passed", () => {
    fc.assert(
      fc.property(runs, (chosen) => {
        const { reports } = play(chosen);
        const passed = new Set<string>();
        const completed: string[] = [];
        for (const report of reports) {
          if (
            report.type === "trigger-completed" &&
            report.trigger === "epic_verification" &&
            report.result === "pass"
          ) {
            passed.add(report.about.replace("epic_id=", ""));
          }
          const id = report.type === "log" ? /^epic (\S+) completed/.exec(report.text)?.[1] : undefined;
          if (id === undefined) continue;
          completed.push(id);
          expect(chosen.verify === "never" || passed.has(id)).toBe(true);
        }
        expect(new Set(completed).size).toBe(completed.length);
      }),
      { numRuns: 300 },
    );
  });

  it("folding its events gives its row again, through JSON", () => {
    fc.assert(
      fc.property(runs, (chosen) => {
        const { state, arrivals, transition } = play(chosen);
        const folded = arrivals.reduce((row: RunState, arrival) => asJson(transition(row, arrival).state), newRun());
        expect(folded).toEqual(asJson(state));
      }),
      { numRuns: 100 },
    );
  });
});
