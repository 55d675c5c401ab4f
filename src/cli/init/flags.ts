import { isPresetName, type PresetName, presetNames } from "../../config/presets.js";
import { UserError } from "../../lib/errors.js";
import { type AgentAnswer, type Answers, defaultAnswers, type Found } from "./answers.js";
import { type Topic, topics } from "./question.js";
import { type InitFlags, namesIn, readAgentName, readProgram } from "./read-flag.js";
import { readReview } from "./review-flags.js";
import { readTriggers } from "./trigger-flags.js";

export interface Given {
  /** Complete: what no flag says is as found. */
  readonly answers: Answers;
  readonly topics: ReadonlySet<Topic>;
}

/** What the command line answers already. Names that do not exist are left to the check of the whole file. */
export function readFlags(flags: InitFlags, found: Found): Given {
  const preset = readPreset(flags.preset);
  const start = preset === undefined ? defaultAnswers(found) : defaultAnswers(found, preset);
  const commands = { ...start.commands, ...readCommands(flags.command ?? []) };
  const required = flags.required === undefined ? [...start.required, ...added(flags)] : namesIn(flags.required);
  const agent = readAgent(flags, found) ?? start.agent;
  const own: Answers = { ...start, commands, required: [...new Set(required)], agent };
  const given = topicsOf(flags);
  const review = given.has("review") ? readReview(flags, own, found) : null;
  const triggers = readTriggers(flags.trigger ?? [], flags.triggerOption ?? []);
  return { answers: { ...own, review, triggers }, topics: given };
}

const flagsOf: Readonly<Record<Topic, readonly (keyof InitFlags)[]>> = {
  preset: ["preset"],
  agent: ["agent", "agentCommand"],
  commands: ["command"],
  evidence: ["required"],
  review: ["review", "reviewCommand", "reviewAgent", "reviewMember", "maxRetries", "findingThreshold"],
  triggers: ["trigger", "triggerOption"],
};

function topicsOf(flags: InitFlags): Set<Topic> {
  return new Set(topics.filter((topic) => flagsOf[topic].some((name) => flags[name] !== undefined)));
}

function readPreset(text: string | undefined): PresetName | null | undefined {
  if (text === undefined || isPresetName(text)) return text;
  if (text === "none") return null;
  throw new UserError(`--preset ${text} is not one of ${presetNames.join(", ")}, none`);
}

function readAgent({ agent, agentCommand }: InitFlags, found: Found): AgentAnswer | null {
  if (agent === undefined && agentCommand === undefined) return null;
  const { type, command } = readAgentName("--agent", agent ?? "command", found);
  if (agentCommand !== undefined) return { type, command: readProgram("--agent-command", agentCommand) };
  if (type !== "command") return { type, command };
  throw new UserError("--agent command does not say which program", { hint: 'give --agent-command "program args"' });
}

function readCommands(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at > 0) return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      throw new UserError(`--command ${pair} is not a name and a command line`, { hint: '--command "test=make test"' });
    }),
  );
}

/** A command that somebody took the trouble to name is one that must pass, unless it is said what must. */
function added({ command = [] }: InitFlags): string[] {
  return Object.keys(readCommands(command)).filter((name) => name !== "setup");
}
