import { afterEach, beforeEach, expect, test } from "vitest";
import { agentReviewer } from "../../src/reviewers/agent-sdk.js";
import { type ReviewerWorld, reviewerWorld } from "./reviewer-world.js";

let world: ReviewerWorld;
beforeEach(() => {
  world = reviewerWorld();
});
afterEach(() => world.done());

test("a scripted agent's verdict step is its verdict", async () => {
  const verdict = { verdict: "fail", findings: [{ file: "a.ts", title: "T", priority: 1 }] };
  const agent = world.scripted([{ say: '{"verdict": "pass"}' }, verdict]);
  const { outcome, sessionId, review } = await world.play(agentReviewer({ name: "security", agent }));
  expect(outcome).toEqual({ type: "ended" });
  expect(sessionId).toMatch(/./);
  expect(review).toMatchObject({ type: "verdict", verdict: "fail", findings: [{ title: "T", priority: 1 }] });
});

test("the agent's session and usage are passed on with the verdict", async () => {
  const result = '{"session_id": "s-1", "usage": {"input_tokens": 7}, "verdict": "pass"}';
  const agent = world.command(`cat >/dev/null; echo '${result}' >"$RATCHET_RESULT_FILE"`);
  expect(await world.play(agentReviewer({ name: "security", agent }))).toMatchObject({
    sessionId: "s-1",
    usage: { input_tokens: 7 },
    review: { type: "verdict", verdict: "pass" },
  });
});

test("whatever it is asked for, the agent works as a reviewer, with the reviewer's own model and effort", () => {
  const reviewer = agentReviewer({
    name: "security",
    agent: world.command("true"),
    model: "opus",
    effort: "high",
    timeoutSeconds: 600,
  });
  expect(reviewer.kind).toBe("agent_sdk");
  expect(reviewer.timeoutSeconds).toBe(600);
  expect(reviewer.command(world.turn({ role: "implementer" })).env).toMatchObject({
    RATCHET_ROLE: "reviewer",
    RATCHET_MODEL: "opus",
    RATCHET_EFFORT: "high",
  });
});

test("an agent that is not there is named as the reviewer's", async () => {
  const missing = await agentReviewer({ name: "security", agent: world.scripted([{ dance: true }]) }).check();
  expect(missing?.message).toContain("reviewer security: ");
  expect(missing?.hint).toMatch(/./);
  expect(await agentReviewer({ name: "security", agent: world.command("true") }).check()).toBeNull();
});
