import { expect, test } from "vitest";
import { runKeyIn, saysLeftOpen } from "./spawned.js";

test.each([
  ["review spawned (run key: rk-1)\n", "rk-1"],
  ["Run key: rk-1.\n", "rk-1"],
  ['{"status": "spawned", "run_key": "rk-77"}\n', "rk-77"],
  ['{"runKey":"rk-77","n":1}', "rk-77"],
  ["run_key: rk-9\n", "rk-9"],
  ["started\nrun_key=rk-9\n", "rk-9"],
  ["export CERBERUS_RUN_KEY=q-5\n", "q-5"],
  ["export CERBERUS_RUN_KEY='q-5'; other\n", "q-5"],
  ['{"session_key": "sk-3"}', "sk-3"],
  ['{"session_key": "sk-3", "run_key": "rk-4"}', "rk-4"],
  ["spawned 3 reviewers\n", null],
  ['{"run_key": null}', null],
  ["run key: --json", null],
])("the run key in %j is %j", (said, key) => {
  expect(runKeyIn({ stdout: said, stderr: "" })).toBe(key);
  expect(runKeyIn({ stdout: "", stderr: said })).toBe(key);
});

test.each([
  ["a review gate is already active for this session", true],
  ["error: a stale gate is active", true],
  ["Stale review gate found, resolve it first", true],
  ["no gate is active", false],
  ["no reviewer CLI is available", false],
])("%j means that a review was left open: %j", (said, expected) => {
  expect(saysLeftOpen(said)).toBe(expected);
});
