import { expect, test } from "vitest";
import type { Settings } from "../settings.js";
import { policyOf, type Setup } from "./fixture.js";
import { continuesBranch, deliveryMode } from "./policy.js";

type Mode = Settings["finalize"]["mode"];
const issue: Setup = {};
const trigger: Setup = { runEnd: {} };
const verification: Setup = { verifies: true };
const byHand: Setup = { options: { only: "land" } };

test.each<[string, Setup, Record<Mode, Mode>]>([
  ["an issue's work as it is configured", issue, { merge: "merge", branch: "branch", pr: "pr" }],
  ["a trigger's repair never in a pull request", trigger, { merge: "merge", branch: "branch", pr: "branch" }],
  ["what is landed by hand onto the target", byHand, { merge: "merge", branch: "merge", pr: "merge" }],
])("it delivers %s", (_, setup, expected) => {
  const modes = (["merge", "branch", "pr"] as const).map((mode) => {
    const policy = policyOf({ ...setup, settings: { finalize: { mode, into: null } } });
    return [mode, deliveryMode(policy)];
  });
  expect(Object.fromEntries(modes)).toEqual(expected);
});

test.each<[boolean, string, Setup, Mode]>([
  [true, "a trigger's repair", trigger, "branch"],
  [true, "a trigger's repair", trigger, "pr"],
  [false, "a trigger's repair", trigger, "merge"],
  [false, "the verification of an epic", verification, "branch"],
  [false, "an issue's work", issue, "branch"],
])("%s: %s goes on from the branch that it was given on before", (expected, _, setup, mode) => {
  expect(continuesBranch(policyOf({ ...setup, settings: { finalize: { mode, into: null } } }))).toBe(expected);
});
