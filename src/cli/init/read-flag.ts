import { agentKinds } from "../../config/schema/agent.js";
import { UserError } from "../../lib/errors.js";
import type { AgentAnswer, Found } from "./answers.js";
import { checkProgramLine } from "./check-program.js";
import { splitWords } from "./split-words.js";

/** As commander hands them over. */
export interface InitFlags {
  readonly yes?: boolean;
  readonly preset?: string;
  readonly agent?: string;
  readonly agentCommand?: string;
  readonly command?: readonly string[];
  readonly required?: string;
  readonly review?: string;
  readonly reviewCommand?: string;
  readonly reviewAgent?: string;
  readonly reviewMember?: readonly string[];
  readonly maxRetries?: string;
  readonly findingThreshold?: string;
  readonly trigger?: readonly string[];
  readonly triggerOption?: readonly string[];
  readonly json?: boolean;
}

/** `given`: what the flag was given, where the program is only a part of it. */
export function readProgram(flag: string, line: string, given = line): string[] {
  const wrong = checkProgramLine(line);
  if (wrong !== null) throw new UserError(`${flag} ${JSON.stringify(given)}: ${wrong}`);
  return splitWords(line) ?? [];
}

/** A program that is known to be an agent, or a kind of agent. */
export function readAgentName(flag: string, name: string, { agents }: Found): AgentAnswer {
  const known = agents.find(({ program }) => program === name);
  const type = known?.type ?? agentKinds.find((kind) => kind === name);
  if (type !== undefined) return { type, command: known?.command ?? [] };
  const names = [...agents.map(({ program }) => program), "command"];
  throw new UserError(`${flag} ${name} is not one of ${names.join(", ")}`);
}

export function namesIn(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "" && name !== "none");
}

export function oneOf<T extends string>(what: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw new UserError(`${what} ${text} is not one of ${choices.join(", ")}`);
}
