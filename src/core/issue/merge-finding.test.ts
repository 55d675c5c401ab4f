import { expect, it } from "vitest";
import { emptyLedger, openFindings, raise } from "../ledger/ledger.js";
import type { IssueStart } from "../run/effects.js";
import {
  failWith,
  noVerdict,
  pass,
  play,
  policyOf,
  type Rules,
  remark,
  type Setup,
  snapshot,
  start,
  World,
} from "./fixture.js";

type Source = "merge" | "gate";
type Bases = Pick<IssueStart, "reviewBase" | "unmerged">;

/** A later life of an issue whose landing was refused before: by a conflict, or by a gate command on the merge. */
function resume(
  rules: Rules,
  { setup = {}, source = "merge", bases = {} }: { setup?: Setup; source?: Source; bases?: Bases } = {},
): World {
  const who = { stage: "merge", source, reviewer: "merge", outcome: "fail", visit: 1 } as const;
  const remarks = [remark("Conflict with main", 1, "")];
  const { ledger } = raise(emptyLedger("p-1"), { ...who, at: 1, commit: "c9", runId: "run-1", remarks });
  const earlier = { runId: "run-1", sessionId: "old", blocking: [], baseSha: "c0", seen: null };
  return new World(policyOf(setup), { ...start, ...bases, life: 2, resume: earlier }, ledger).play(rules);
}
const standing = ({ life }: World) => life.ledger.findings.map(({ title, status }) => [title, status]);
const conflict = [["Conflict with main", "open"]];
const held = [["Conflict with main", "resolved"]];

const mute: Rules = { review: () => noVerdict };
const refused: Rules = { land: () => ({ type: "refused", reason: "protected" }) };
const landsOnBranch: Setup = { settings: { finalize: { mode: "branch", into: null } } };
it.each<[string, Rules, Setup, unknown]>([
  ["a gate that passes without the merge", mute, { review: {} }, conflict],
  [
    "a gate that passes with what was demanded in the work",
    { ...mute, worktree: { reviewBase: "tip1" } },
    { review: {} },
    held,
  ],
  ["a landing that is refused", refused, {}, conflict],
  ["a landing", {}, {}, held],
  ["a branch that is put where people have it", {}, landsOnBranch, held],
])("what landing had against an earlier life, after %s", (_, rules, setup, expected) => {
  for (const source of ["merge", "gate"] as const) {
    const standings = standing(resume(rules, { setup, source }));
    expect(standings.filter(([title]) => title === "Conflict with main")).toEqual(expected);
  }
});

it("a landing that is cut short after a command failed has said what must be merged", () => {
  const merged = { type: "proposed", tip: "tip1", commit: "m1", tree: "mt1", merged: true } as const;
  const world = play(
    {},
    {
      land: () => merged,
      implement: (_, n) => ({ snapshot: snapshot(n) }),
      command: ({ stage, name }) => (stage !== "landing" ? {} : name === "test" ? { exitCode: 1 } : null),
      before: ({ life }) => (life.state.landing.raised.length > 0 ? { name: "stop" } : null),
    },
  );
  expect(world.finished()).toMatchObject({ status: "interrupted", unmerged: "tip1" });
  expect(world.finished()).not.toHaveProperty("review_base");
  expect(openFindings(world.life.ledger)).toMatchObject([{ stage: "merge", source: "gate" }]);
});

it.each<[string, string, unknown, object]>([
  ["is merged", "tip2", held, { review_base: "tip2" }],
  ["is not merged, but what was demanded before it", "tip1", conflict, { review_base: "tip1", unmerged: "tip2" }],
])("a resume where what was demanded last %s goes by what is in the work", (_, reviewBase, standings, bases) => {
  const world = resume(
    { ...mute, worktree: { reviewBase } },
    { setup: { review: {} }, bases: { reviewBase: "tip1", unmerged: "tip2" } },
  );
  expect(standing(world).slice(0, 1)).toEqual(standings);
  const { review_base, unmerged } = world.finished() ?? {};
  expect({ review_base, unmerged }).toEqual({ unmerged: undefined, ...bases });
});

it("reviews are based on what was merged, and the record says what was to be and is not", () => {
  const tips = ["tip1", "tip2"];
  const world = play(
    { review: {} },
    {
      land: () => ({ type: "conflict", tip: tips.shift() ?? "tip3", files: ["a"] }),
      implement: (_, n) => ({ snapshot: snapshot(n, { containsBase: n < 3 }) }),
    },
  );
  expect(world.finished()).toMatchObject({ status: "failed", review_base: "tip1", unmerged: "tip2" });
});

it.each<[string, object, object]>([
  ["only what was demanded", { targetBase: "tip1", merged: "tip1" }, { standing: held, base: "tip1" }],
  ["something newer", { targetBase: "tip2", merged: "tip1" }, { standing: held, base: "tip2" }],
  ["something older", { targetBase: "tip0" }, { standing: conflict, base: "tip0", unmerged: "tip1" }],
  ["nothing", { targetBase: "c0" }, { standing: conflict, base: "c0", unmerged: "tip1" }],
])("a merge that an earlier life was to make, where this one has merged %s", (_, seen, expected) => {
  const rules: Rules = { ...mute, implement: (_effect, n) => ({ snapshot: snapshot(n, seen) }) };
  const world = resume(rules, { setup: { review: {} }, bases: { unmerged: "tip1" } });
  const [first] = standing(world);
  const { unmerged } = world.finished() ?? {};
  const base = world.turns().find(({ role }) => role === "reviewer")?.base;
  expect({ standing: [first], base, unmerged }).toEqual({ unmerged: undefined, ...expected });
});

it("what an agent has merged unasked is what its review is based on, and it may drop it again", () => {
  const bases = ["tip1", "c0"];
  const world = play(
    { review: {} },
    {
      implement: (_, n) => ({ snapshot: snapshot(n, { targetBase: bases[n - 1] ?? "c0" }) }),
      review: (_, n) => (n === 1 ? failWith(remark("Wrong", 1)) : pass),
    },
  );
  const turns = world.turns().map(({ role, base }) => [role, base]);
  expect(turns).toEqual([
    ["implementer", "c0"],
    ["reviewer", "tip1"],
    ["implementer", "c0"],
    ["reviewer", "c0"],
  ]);
  expect(world.finished()).toMatchObject({ status: "success" });
});
