import { describe, expect, it } from "vitest";
import type { Finding, Ledger, Remark } from "../finding.js";
import { add, emptyLedger } from "../ledger/ledger.js";
import type { TurnEffect } from "./effects.js";
import {
  failWith,
  noVerdict,
  panelOf,
  policyOf,
  type Rules,
  remark,
  review,
  type Setup,
  start,
  World,
} from "./fixture.js";
import { ownFindings } from "./own-findings.js";

type Answer = ReturnType<NonNullable<Rules["review"]>>;

/** "<stage> <slot> <attempt>: <its earlier findings>", for every review that is asked for, when it is. */
function told(setup: Setup, answer: (effect: TurnEffect) => Answer, rules: Rules & { known?: Ledger } = {}) {
  const policy = policyOf(setup);
  const world = new World(policy, start, rules.known);
  const asked = new Set<string>();
  const lines: string[] = [];
  const before = () => {
    for (const effect of world.turns()) {
      if (effect.role !== "reviewer" || asked.has(effect.key)) continue;
      asked.add(effect.key);
      const own = ownFindings(world.life.ledger, policy.settings, effect).map(({ title }) => title);
      lines.push(`${effect.stage} ${effect.slot} ${effect.attempt}: ${own.join(", ")}`);
    }
    return null;
  };
  world.play({ ...rules, before, review: answer });
  return { lines, ledger: world.life.ledger };
}

const by = (reviewer: string, title: string, priority = 1): Remark => ({ ...remark(title, priority), reviewer });
const inTurn = (effect: TurnEffect, first: Answer): Answer => (effect.attempt === 1 ? first : {});

describe("a reviewer's earlier findings", () => {
  it("are what it has found, whatever it calls itself, not that it gave no verdict", () => {
    let calls = 0;
    const { lines } = told({ review: {} }, (effect) => {
      calls += 1;
      return calls === 1 ? noVerdict : inTurn(effect, failWith(by("somebody", "Leak"), remark("Naming", 3)));
    });
    expect(lines).toEqual([
      "per_issue_review command 1: ",
      "per_issue_review command 1: ",
      "per_issue_review command 2: Leak, Naming",
    ]);
  });

  it("are its own of the panel, also where it calls itself something else", () => {
    const { lines } = told({ review: panelOf("x", "y") }, (effect) =>
      inTurn(effect, failWith(effect.slot === "x" ? by("y", "Leak") : remark("Unsafe cast", 1, "b.ts"))),
    );
    expect(lines).toEqual([
      "per_issue_review/x x 1: ",
      "per_issue_review/y y 1: ",
      "per_issue_review/x x 2: Leak",
      "per_issue_review/y y 2: Unsafe cast",
    ]);
  });

  it("are in each one's own words where two of the panel report one defect, also once one of them has let it go", () => {
    const { lines } = told({ review: { ...panelOf("x", "y"), max_retries: 4 } }, ({ attempt, slot }) => {
      if (attempt === 1) return failWith(remark(slot === "x" ? "Null deref" : "Possible null deref", 1));
      return attempt === 2 && slot === "x" ? failWith(remark("Null deref", 1)) : {};
    });
    expect(lines.slice(2)).toEqual([
      "per_issue_review/x x 2: Null deref",
      "per_issue_review/y y 2: Possible null deref",
      "per_issue_review/x x 3: Null deref",
      "per_issue_review/y y 3: Possible null deref",
    ]);
  });

  it("are none of session_end's commands", () => {
    const setup = { sessionEnd: { code_review: review } };
    const rules: Rules = { command: ({ stage }) => ({ exitCode: stage === "session_end" ? 1 : 0 }) };
    expect(told(setup, () => ({}), rules).lines).toEqual(["session_end command 1: "]);
  });

  it.each(["session_end", "run_end"])("are each member's own in %s, which has one stage for all of them", (stage) => {
    const panel = panelOf("x", "y", "z");
    const trigger = { commands: [], code_review: { ...review, ...panel, failure_mode: "remediate" as const } };
    const setup: Setup = stage === "run_end" ? { runEnd: trigger } : { sessionEnd: trigger, review: panel };
    const both = remark("Off by one", 1, "c.ts");
    const found: Readonly<Record<string, Remark[]>> = { x: [by("the linter", "Leak"), both], y: [both] };
    const asked = new Set<string>();
    const { lines } = told(
      setup,
      (effect) => {
        const name = `${effect.stage} ${effect.slot}`;
        const isFirst = !asked.has(name);
        asked.add(name);
        const seen = effect.stage === stage ? found[effect.slot ?? ""] : [remark("Naming", 1, "b.ts")];
        return isFirst && seen ? failWith(...seen) : {};
      },
      { worktree: { reviewBase: "earlier" } },
    );
    const own = lines.filter((line) => line.startsWith(stage));
    expect(own.map((line) => line.replace(/ \d:/, ":"))).toEqual([
      ...[`${stage} x: `, `${stage} y: `, `${stage} z: `],
      ...[`${stage} x: Leak, Off by one`, `${stage} y: Off by one`, `${stage} z: `],
    ]);
  });

  it("are those of earlier verifications of the epic", () => {
    const setup: Setup = { verifies: true, review: panelOf("x", "y") };
    const first = told(setup, ({ slot }) => (slot === "x" ? failWith(by("me", "Not done")) : {}));
    expect(told(setup, () => ({}), { known: first.ledger }).lines).toEqual([
      "epic_verification x 1: Not done",
      "epic_verification y 1: ",
    ]);
  });
});

describe("what an older version or another machine has written down", () => {
  const visit = { source: "review", outcome: "fail", visit: 1, at: 1, commit: null, runId: "r" } as const;
  const ledger = (stage: string, reviewer: string): Ledger =>
    add(emptyLedger("i"), { ...visit, stage, reviewer, remarks: [remark("Leak", 1)] }).ledger;
  const isOwn = (setup: Setup, known: Ledger, who: Pick<TurnEffect, "stage" | "slot">): boolean =>
    ownFindings(known, policyOf(setup).settings, who).length > 0;
  const alone: Setup = { review: {} };
  const panel: Setup = { review: panelOf("x", "y") };

  it.each([
    ["the section's, of its one reviewer", alone, "per_issue_review", "somebody", "per_issue_review", "command", true],
    ["a member's", panel, "per_issue_review/x", "somebody", "per_issue_review/x", "x", true],
    ["another member's", panel, "per_issue_review/x", "x", "per_issue_review/y", "y", false],
    ["imported, by its name", panel, "per_issue_review", "x", "per_issue_review/x", "x", true],
    ["imported, of nobody known", panel, "per_issue_review", "unknown", "per_issue_review/x", "x", false],
    ["session_end's, by its name", panel, "session_end", "x", "session_end", "x", true],
    ["session_end's of another member", panel, "session_end", "x", "session_end", "y", false],
    ["of the section's own stage", alone, "session_end", "x", "per_issue_review", "command", false],
    ["of a panel that is no more", alone, "per_issue_review/x", "x", "per_issue_review", "command", false],
  ] as const)("%s", (_, setup, stage, reviewer, asked, slot, own) => {
    expect(isOwn(setup, ledger(stage, reviewer), { stage: asked, slot })).toBe(own);
  });

  it("is never a failure of the machinery", () => {
    const known: Finding[] = ledger("per_issue_review", "command").findings.map((one) => ({
      ...one,
      source: "protocol",
    }));
    expect(isOwn(alone, { issueId: "i", findings: known }, { stage: "per_issue_review", slot: "command" })).toBe(false);
  });
});
