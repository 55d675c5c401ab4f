import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOf } from "../../src/lib/errors.js";
import type { Answer, Asked } from "../model-server/script.js";
import { attemptsOf, eventsOf, until } from "../scenarios/sandbox.js";
import type { ProgramName } from "./programs.js";
import { type AgentWorld, agentWorld, expectNothingRuns, isInstalled } from "./world.js";

const models = { claude: "claude-sonnet-4-5", codex: "test-model", pi: "local/test-model" } as const;

/**
 * A whole issue with the real program, as implementer and as reviewer: its first commit fails the gate, its second one
 * the review, and in the middle of the third turn the machine goes down.
 */
describe.each(["claude", "codex", "pi"] as const)("an issue implemented by %s", (name) => {
  it.skipIf(!isInstalled(name))(
    "is fixed, reviewed, killed in the middle, resumed with its findings, and lands",
    async () => {
      const world = await agentWorld(answer);
      world.configure(configFor(name));
      await world.add("greeting", { title: "Greet the world", body: "Write a greeting into greeting.txt." });
      const killed = await killInTheMiddle(world);

      const second = await world.start(["run", "--json"]).ended;
      expect(second.code, `${second.stdout}\n${second.stderr}`).toBe(0);
      expect(world.read("greeting.txt")).toBe("hello world\n");
      const record = await world.record();
      const issue = record.issues.greeting;
      expect(issue).toMatchObject({ status: "success", gate_attempts: 3, review_attempts: 2, agent: name });
      expect(issue?.session_id).toBe(killed.session);
      expect(issue?.usage.input_tokens).toBeGreaterThan(0);
      expect(issue?.findings).toMatchObject({ open: 0 });

      const attempts = attemptsOf(world, record.run_id, "greeting");
      const followUp = attempts.find((folder) => folder.endsWith("-review_followup")) ?? "";
      const prompt = readFileSync(join(world.home, "runs", record.run_id, "greeting", followUp, "prompt.md"), "utf8");
      expect(prompt).toContain("The world is not greeted");
      expect(attempts.some((folder) => folder.endsWith("-continue"))).toBe(true);
      // Each turn knew those before it; what claude itself says of an interruption counts as said, too.
      const prompts = promptsOf(world);
      expect(prompts.slice(0, 3)).toEqual([1, 2, 3]);
      expect(prompts.at(-1)).toBeGreaterThanOrEqual(4);

      await expectNothingRuns(world);
      expect(world.strays()).toEqual([]);
    },
  );
});

function configFor(name: ProgramName): object {
  const agent = { type: name, model: models[name] };
  return {
    commands: { test: "grep -q hello greeting.txt" },
    evidence_check: { required: ["test"] },
    agent,
    per_issue_review: { enabled: true, reviewer_type: "agent_sdk", agent_sdk_agent: agent },
  };
}

/** Ratchet and the agent go at once, while the model is thinking: what a power cut would do. */
async function killInTheMiddle(world: AgentWorld): Promise<{ readonly session: string }> {
  const run = world.start(["run", "--json"]);
  await until("the model is asked in the third turn", () => run.isEnded() || isThinking(world), 120_000);
  expect(run.isEnded(), `${run.stdout()}\n${run.stderr()}`).toBe(false);
  run.kill("SIGKILL");
  const ended = await run.ended;
  for (const line of world.processes()) killIfThere(Number.parseInt(line, 10));
  await until("nothing of it runs", () => world.processes().length === 0);
  const sessions = eventsOf(ended).flatMap((event) => (event.type === "session-known" ? [event.session_id] : []));
  expect(new Set(sessions).size).toBe(1);
  return { session: sessions[0] ?? "" };
}

/** Others of its tree may have gone by themselves since they were listed. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function isThinking(world: AgentWorld): boolean {
  return asksOf(world).some(({ prompt, toolResults }) => isReviewFollowUp(prompt) && toolResults.length === 1);
}

function asksOf(world: AgentWorld): Asked[] {
  return world.server.requests().flatMap(({ asked }) => (asked && asked.tools.length > 0 ? [asked] : []));
}

/** How many prompts the implementer's session had, in order: each turn knew those before it. */
function promptsOf(world: AgentWorld): number[] {
  const counts = asksOf(world)
    .filter(({ prompt }) => !isReview(prompt) && !isProbe(prompt))
    .map(({ prompts }) => prompts);
  return [...new Set(counts)];
}

const isReview = (prompt: string) => prompt.includes("You are the reviewer");
const isReviewFollowUp = (prompt: string) => prompt.includes("The review of issue greeting asks for changes");
const isProbe = (prompt: string) => prompt.includes("ratchet-guard-probe");

/** The model, as a function of what it is asked. */
function answer({ prompt, toolResults }: Asked): Answer | null {
  const does = (shell: string): Answer => ({
    say: toolResults.length === 0 ? [{ shell }] : [{ text: "Done." }],
  });
  if (isReview(prompt)) return review(prompt);
  if (prompt.includes("it did not pass")) return does('echo hello > greeting.txt && git commit -qam "Say hello"');
  if (prompt.includes("was interrupted")) return does('git commit -qam "Greet the world"');
  if (isReviewFollowUp(prompt)) {
    return toolResults.length === 0
      ? { say: [{ shell: 'echo "hello world" > greeting.txt' }] }
      : { say: [], fault: { kind: "hang" } };
  }
  if (prompt.includes("Greet the world")) {
    return does('echo bye > greeting.txt && git add greeting.txt && git commit -qm "Add a greeting"');
  }
  return null;
}

function review(prompt: string): Answer {
  const good = { verdict: "pass", findings: [] };
  const finding = { file: "greeting.txt", line_start: 1, line_end: 1, priority: 1, title: "The world is not greeted" };
  const bad = { verdict: "fail", findings: [{ ...finding, body: "It says hello to nobody." }] };
  return { say: [{ text: JSON.stringify(/^\+hello world$/m.test(prompt) ? good : bad) }] };
}
