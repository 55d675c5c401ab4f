import type { AgentAnswer, Answers, Found, FoundAgent } from "./answers.js";
import type { Option } from "./question.js";
import { joinWords } from "./split-words.js";

export function isSameAgent(one: AgentAnswer, other: AgentAnswer): boolean {
  return one.type === other.type && joinWords(one.command) === joinWords(other.command);
}

export function toAgent({ type, command }: AgentAnswer): AgentAnswer {
  return { type, command };
}

export function agentOptions(agents: readonly FoundAgent[], commandHint: string): Option[] {
  return [
    ...agents.filter(({ isOnPath, isAvailable }) => isOnPath || isAvailable).map(agentOption),
    { value: "command", label: "command", hint: commandHint },
  ];
}

function agentOption({ program, isOnPath, isAvailable }: FoundAgent): Option {
  if (!isAvailable) return { value: program, label: program, hint: "installed, not available yet", disabled: true };
  return { value: program, label: program, hint: isOnPath ? "installed" : "not on PATH" };
}

/** The agents as those who review. */
export function reviewingAgents({ agents }: Found): FoundAgent[] {
  return agents.map((agent) => ({ ...agent, isAvailable: agent.canReview }));
}

/** Another vendor sees other mistakes: an installed agent that is not used yet, else the one that implements. */
export function agentToReview({ agent }: Answers, found: Found, taken: readonly AgentAnswer[] = []): AgentAnswer {
  const installed = found.agents.filter(({ isOnPath, canReview }) => isOnPath && canReview);
  const other = installed.find((one) => ![agent, ...taken].some((used) => isSameAgent(one, used)));
  return other === undefined ? agent : toAgent(other);
}
