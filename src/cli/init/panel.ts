import { type AgentAnswer, type Answers, type Found, type MemberAnswer, placeholderAgent } from "./answers.js";
import { agentToReview, isSameAgent } from "./choose-agent.js";

/** As the configuration wants a member's name. */
export const memberName = /^[a-z0-9_-]{1,64}$/;

/** A further member, as different from those that are there as what is installed allows. */
export function nextMember(answers: Answers, found: Found, members: readonly MemberAnswer[]): MemberAnswer {
  const taken = members.filter(({ type }) => type === "agent_sdk").map(({ agent }) => agent);
  const agent = agentToReview(answers, found, taken);
  const isNew = !taken.some((one) => isSameAgent(one, agent)) && !isSameAgent(agent, placeholderAgent);
  const cerberus = found.reviewers.some(({ type, missing }) => type === "cerberus" && missing === null);
  const hasCerberus = members.some(({ type }) => type === "cerberus");
  const type = isNew ? "agent_sdk" : cerberus && !hasCerberus ? "cerberus" : "command";
  return { name: "", type, command: [], agent };
}

/** Called after who it is; a number makes it a name of its own. */
export function suggestName(
  { type, command, agent }: MemberAnswer,
  others: readonly MemberAnswer[],
  { agents }: Found,
): string {
  const word = type === "agent_sdk" ? agentWord(agent, agents) : type === "command" ? programWord(command) : type;
  const base = word.slice(0, 60) || type;
  const isFree = (name: string) => !others.some((other) => other.name === name);
  let name = base;
  for (let number = 2; !isFree(name); number++) name = `${base}-${number}`;
  return name;
}

function agentWord(agent: AgentAnswer, agents: Found["agents"]): string {
  return agents.find((one) => isSameAgent(one, agent))?.program ?? (programWord(agent.command) || agent.type);
}

function programWord([program = ""]: readonly string[]): string {
  const name = program.split("/").at(-1) ?? "";
  return name
    .replace(/\.\w+$/, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
}
