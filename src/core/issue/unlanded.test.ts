import { describe, expect, it } from "vitest";
import { failWith, pass, policyOf, type Rules, remark, review, type Setup, snapshot, World } from "./fixture.js";
import { triggerResult } from "./session-end-result.js";
import { parked, reviewedUpTo } from "./unlanded.js";

const remediate = { failure_mode: "remediate", max_retries: 2 } as const;
const byReview: Setup = { runEnd: { commands: [], code_review: { ...review, ...remediate } } };
const byCommand: Setup = { runEnd: remediate };

/** run_end at c0; its review, where it has one, began at an earlier commit. */
function runEnd(setup: Setup, rules: Rules): World {
  const world = new World(policyOf(setup), { issueId: "", title: "run_end", life: 1, resume: null });
  return world.play({ worktree: { reviewBase: "earlier" }, ...rules });
}
const standing = ({ life }: World) => life.ledger.findings.map(({ title, status }) => `${title}: ${status}`);
const isGate = (stage: string) => stage === "gate";

/** The review has something against c0 and nothing against what the fixer makes of it. */
const repaired: Rules = { review: (_, n) => (n === 1 ? failWith(remark("Defect", 0)) : pass) };
const endings: readonly [string, Rules][] = [
  ["the gate fails on it", { command: ({ stage }) => ({ exitCode: isGate(stage) ? 1 : 0 }) }],
  [
    "a stop comes during its gate",
    {
      command: ({ stage }) => (isGate(stage) ? null : {}),
      before: ({ life }) => (life.state.phase === "gating" ? { name: "stop" } : null),
    },
  ],
  ["the run is aborted", { before: ({ life }) => (life.state.phase === "gating" ? { name: "abort" } : null) }],
  ["it conflicts with the target", { land: () => ({ type: "conflict", tip: "tip1", files: ["a.ts"] }) }],
  ["its landing is refused", { land: () => ({ type: "refused", reason: "protected" }) }],
];

describe("what a trigger's fixer repaired", () => {
  it.each(endings)("is open again, and the next review begins where this one did, when %s", (_, rules) => {
    const world = runEnd(byReview, { ...repaired, ...rules });
    expect(standing(world)).toContain("Defect: open");
    expect(world.reported("finding-raised").filter(({ title }) => title === "Defect")).toMatchObject([
      { reopened: false },
      { reopened: true, stage: "run_end", priority: 0 },
    ]);
    const bases = (["since_last_review", "since_run_start", null] as const).map((one) =>
      reviewedUpTo(world.life.state, one),
    );
    expect(bases).toEqual(["earlier", null, null]);
  });

  it("is not landed for a reason that is told where the run is told, unless the run was ended", () => {
    const messages = endings.map(([, rules]) => {
      const world = runEnd(byReview, { ...repaired, ...rules });
      const { message } = triggerResult(world.policy, world.life.state);
      const logged = world.reported("log").filter(({ text }) => text === `run: run_end failed: ${message}`);
      expect(logged).toHaveLength(message === undefined ? 0 : 1);
      return message;
    });
    expect(messages).toEqual([
      expect.stringMatching(/^The gate failed: /),
      undefined,
      undefined,
      "It conflicts with main",
      "Landing was refused: protected",
    ]);
  });

  it.each(endings)("is a failed command again when %s", (_, rules) => {
    let tries = 0;
    const first: Rules["command"] = (effect, n) => {
      if (effect.stage !== "run_end") return rules.command ? rules.command(effect, n) : {};
      tries += 1;
      return { exitCode: tries === 1 ? 1 : 0 };
    };
    const world = runEnd(byCommand, { ...rules, command: first });
    expect(standing(world)).toContain("one failed: exit 1: open");
  });

  it.each(endings)("has nothing open against it that nobody can repair any more, when %s", (_, rules) => {
    const world = runEnd(byReview, { ...repaired, ...rules });
    const open = world.life.ledger.findings.filter(({ status }) => status === "open");
    expect(open.map(({ title }) => title)).toEqual(["Defect"]);
    const given = world.life.ledger.findings.filter(({ stage }) => stage === "gate" || stage === "merge");
    for (const { status, reason } of given) expect([status, reason]).toEqual(["superseded", parked]);
  });

  it.each(endings)("and what failed in the repair alone is superseded with it when %s", (_, rules) => {
    // Two fails on what has landed, then in other words on the first repair; three on the second, having never run before.
    const results = [{}, { exitCode: 1, digest: "as landed" }, {}, { exitCode: 1, digest: "as repaired" }];
    const after = [{}, {}, { exitCode: 2 }];
    let n = -1;
    const command: Rules["command"] = (effect, count) => {
      if (effect.stage !== "run_end") return rules.command ? rules.command(effect, count) : {};
      n += 1;
      return [...results, ...after][n] ?? {};
    };
    const world = runEnd(byCommand, { ...rules, command });
    const own = world.life.ledger.findings.filter(({ source }) => source === "command");
    expect(own.map(({ title, status, reason }) => [title, status, reason])).toEqual([
      ["two failed: exit 1: as landed", "open", null],
      ["two failed: exit 1: as repaired", "superseded", parked],
      ["three failed: exit 2", "superseded", parked],
    ]);
  });

  it("is resolved when it lands, and the next review begins there", () => {
    const world = runEnd(byReview, repaired);
    expect(standing(world)).toEqual(["Defect: resolved"]);
    expect(reviewedUpTo(world.life.state, "since_last_review")).toBe("c101");
  });

  it("is open again where another thing was found in the repair, and what a person waived is not", () => {
    const found = [failWith(remark("Defect", 0), remark("Odd name", 1, "b.ts")), failWith(remark("Worse", 0, "c.ts"))];
    const world = runEnd(byReview, {
      review: (_, n) => found[n - 1] ?? pass,
      command: () => ({ exitCode: 1 }),
      before: ({ life }) => {
        const odd = life.ledger.findings.find(({ title, status }) => title === "Odd name" && status === "open");
        return odd ? { name: "waive", finding: odd.id, reason: "it is not" } : null;
      },
    });
    expect(standing(world).slice(0, 3)).toEqual(["Defect: open", "Odd name: waived", "Worse: open"]);
  });

  it("is no pass where it put the branch back to before what was reviewed", () => {
    const back = snapshot(0, { head: "before", tree: "t-before", filesTree: "t-before", commits: 0 });
    const world = runEnd(byReview, { ...repaired, committed: back });
    expect(world.life.state.ending).toMatchObject({ status: "failed", error: "gate_failed" });
    expect(standing(world)).toContain("Defect: open");
  });
});

describe("what a trigger's review found beside", () => {
  const told: Rules = { tracker: () => ({ ok: true, id: "f-1" }) };
  const nit = remark("Nit", 3, "b.ts");
  const reasons = ({ life }: World) =>
    Object.fromEntries(life.ledger.findings.map(({ title, status, reason }) => [title, [status, reason]]));

  it.each(endings)("of what has landed is tracked all the same when %s", (_, rules) => {
    const found = [failWith(remark("Defect", 0), nit, remark("Mended", 3, "c.ts")), failWith(nit)];
    const world = runEnd(byReview, { ...told, review: (_effect, n) => found[n - 1] ?? pass, ...rules });
    const tracked = ["waived", "tracked as f-1"];
    expect(reasons(world)).toMatchObject({ Defect: ["open", null], Nit: tracked, Mended: tracked });
  });

  it.each(endings)("of the repair alone is superseded with it when %s", (_, rules) => {
    const found = [failWith(remark("Defect", 0)), failWith(nit)];
    const world = runEnd(byReview, { ...told, review: (_effect, n) => found[n - 1] ?? pass, ...rules });
    expect(reasons(world)).toMatchObject({ Defect: ["open", null], Nit: ["superseded", parked] });
  });

  it("may be of what has landed where nobody has looked at that alone: it is tracked", () => {
    let tries = 0;
    const command: Rules["command"] = ({ stage }) => {
      if (isGate(stage)) return { exitCode: 1 };
      tries += 1;
      return { exitCode: tries === 1 ? 1 : 0 };
    };
    const both: Setup = { runEnd: { ...remediate, code_review: review } };
    const world = runEnd(both, { ...told, command, review: () => failWith(nit) });
    expect(reasons(world)).toMatchObject({ Nit: ["waived", "tracked as f-1"] });
  });

  it("is tracked when the trigger aborts the run", () => {
    const aborts: Setup = { runEnd: { commands: [], code_review: { ...review, failure_mode: "abort" } } };
    const world = runEnd(aborts, { ...told, review: () => failWith(remark("Defect", 0), nit) });
    expect(reasons(world)).toEqual({ Defect: ["open", null], Nit: ["waived", "tracked as f-1"] });
  });
});

it.each(endings)("a review that passes on a repair alone has not passed when %s", (_, rules) => {
  const world = runEnd(byReview, { ...repaired, ...rules });
  const defect = world.life.ledger.findings.find(({ title }) => title === "Defect")?.id;
  const { code_review_result } = triggerResult(world.policy, world.life.state);
  expect(code_review_result).toEqual({ ran: true, passed: false, findings: [defect] });
});
