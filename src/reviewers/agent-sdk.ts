import type { Agent, Reviewer, Turn } from "../core/ports/agent.js";
import { turnEnvironment } from "../core/ports/turn-protocol.js";
import { JsonNesting } from "../lib/json-nesting.js";
import { judge } from "./read-turn.js";
import { type Said, verdictBytes } from "./verdict.js";

export interface AgentReviewerOptions {
  readonly name: string;
  /** Any agent there is: it gets the review prompt, and its word is the verdict. */
  readonly agent: Agent;
  readonly model?: string | null;
  readonly effort?: string | null;
  readonly timeoutSeconds?: number;
}

/** An agent as the reviewer: the verdict is in its result file, or the last JSON object of its last message. */
export function agentReviewer({ name, agent, model, effort, timeoutSeconds }: AgentReviewerOptions): Reviewer {
  const asReviewer = (turn: Turn): Turn => ({
    ...turn,
    role: "reviewer",
    model: model ?? turn.model,
    effort: effort ?? turn.effort,
  });
  return {
    kind: "agent_sdk",
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    check: async (dir) => {
      const missing = await agent.check(dir);
      return missing === null ? null : { ...missing, message: `reviewer ${name}: ${missing.message}` };
    },
    ...(agent.prepare ? { prepare: async (turn: Turn) => await agent.prepare?.(asReviewer(turn)) } : {}),
    ...(agent.reader ? { reader: agent.reader } : {}),
    ...(agent.status ? { status: agent.status } : {}),
    ...(agent.proveGuard ? { proveGuard: agent.proveGuard } : {}),
    command: (turn) => {
      const call = agent.command(asReviewer(turn));
      return { ...call, env: { ...call.env, ...turnEnvironment(asReviewer(turn)) } };
    },
    read: async (files, exitCode) => judge(files, await agent.read(files, exitCode), () => endOf(agent.message(files))),
  };
}

/** As much of the end as a verdict is looked for in: a message of 100 MB costs no more. */
async function endOf(lines: AsyncIterable<string>): Promise<Said> {
  let text = "";
  let before: JsonNesting | null = null;
  for await (const line of lines) {
    text += `${line}\n`;
    if (text.length <= 2 * verdictBytes) continue;
    before ??= new JsonNesting();
    before.add(text.slice(0, -verdictBytes));
    text = text.slice(-verdictBytes);
  }
  return { text, before };
}
