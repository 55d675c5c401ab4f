import { expect, test } from "vitest";
import type { Turn } from "./agent.js";
import { outcomeOfExit, parseTurnResult, turnEnvironment } from "./turn-protocol.js";

const turn: Turn = {
  role: "implementer",
  prompt: "gate_followup",
  runId: "r1",
  issueId: "i-1",
  stageId: "implement",
  attempt: 2,
  sessionId: null,
  model: null,
  effort: null,
  cwd: "/w",
  files: { folder: "/f", stdout: "/f/stdout.log", stderr: "/f/stderr.log", result: "/f/result.json" },
  guard: { worktree: "/w", readOnly: false, writable: [] },
  review: null,
};
const basic = {
  RATCHET_ROLE: "implementer",
  RATCHET_PROMPT_KIND: "gate_followup",
  RATCHET_RUN_ID: "r1",
  RATCHET_ISSUE_ID: "i-1",
  RATCHET_STAGE_ID: "implement",
  RATCHET_ATTEMPT: "2",
  RATCHET_RESULT_FILE: "/f/result.json",
};

test("a first turn gets exactly the variables of the protocol, and no session", () => {
  expect(turnEnvironment(turn)).toEqual(basic);
});

test("a stage's turn is told its visit beside the attempt within it", () => {
  expect(turnEnvironment({ ...turn, visit: 3 })).toEqual({ ...basic, RATCHET_VISIT: "3" });
});

test("session, model, effort and what is reviewed are added where there are any", () => {
  const review = { reviewer: "security", baseSha: "aaa", headSha: "bbb" };
  expect(turnEnvironment({ ...turn, sessionId: "s", model: "m", effort: "high", review })).toEqual({
    ...basic,
    RATCHET_SESSION_ID: "s",
    RATCHET_MODEL: "m",
    RATCHET_EFFORT: "high",
    RATCHET_REVIEWER: "security",
    RATCHET_BASE_SHA: "aaa",
    RATCHET_HEAD_SHA: "bbb",
  });
});

test.each([
  [0, "", { type: "ended" }],
  [75, "busy", { type: "transient", reason: "exit code 75: busy" }],
  [66, "", { type: "no-session" }],
  [1, "boom", { type: "failed", reason: "exit code 1: boom" }],
  [127, "", { type: "failed", reason: "the program was not found (exit code 127)" }],
  [137, "", { type: "failed", reason: "ended by signal 9" }],
  [null, "", { type: "lost" }],
])("exit %j with last words %j is %j", (code, words, outcome) => {
  expect(outcomeOfExit(code, words)).toEqual(outcome);
});

test.each([
  [null, null, null],
  [[1], null, null],
  ["x", null, null],
  [{ session_id: 5, usage: [] }, null, null],
  [{ session_id: "" }, null, null],
  [{ session_id: "a\0b" }, null, null],
  [{ session_id: "s" }, "s", null],
  [{ usage: {} }, null, { input_tokens: 0, output_tokens: 0, cost_usd: null }],
  [
    { usage: { input_tokens: "9", output_tokens: -1, cost_usd: "1" } },
    null,
    { input_tokens: 0, output_tokens: 0, cost_usd: null },
  ],
  [
    { usage: { input_tokens: 9, output_tokens: 2.4, cost_usd: 0.5 } },
    null,
    { input_tokens: 9, output_tokens: 2, cost_usd: 0.5 },
  ],
])("the result %j has session %j and usage %j", (value, sessionId, usage) => {
  expect(parseTurnResult(value)).toMatchObject({ sessionId, usage });
});
