import { isPresetName, type PresetName, presetNames } from "../../config/presets.js";
import { triggerNames } from "../../config/rules.js";
import { agentKinds } from "../../config/schema/agent.js";
import { UserError } from "../../lib/errors.js";
import {
  type Answers,
  defaultAnswers,
  defaultReview,
  defaultTrigger,
  type Found,
  type OfferedReviewer,
  type ReviewAnswer,
} from "./answers.js";
import { checkProgramLine } from "./check-program.js";
import type { Topic } from "./question.js";
import { parseWhole, thresholds } from "./review-questions.js";
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
  readonly maxRetries?: string;
  readonly findingThreshold?: string;
  readonly trigger?: readonly string[];
  readonly json?: boolean;
}

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
  const answers: Answers = {
    ...start,
    commands,
    required: [...new Set(required)],
    agent: readAgent(flags, start, found),
    review: readReview(flags),
    triggers: (flags.trigger ?? []).map(readTrigger),
  };
  return { answers, topics: topicsOf(flags) };
}

function topicsOf(flags: InitFlags): Set<Topic> {
  const { review, reviewCommand, maxRetries, findingThreshold } = flags;
  const given: [Topic, boolean][] = [
    ["preset", flags.preset !== undefined],
    ["agent", flags.agent !== undefined || flags.agentCommand !== undefined],
    ["commands", flags.command !== undefined],
    ["evidence", flags.required !== undefined],
    ["review", [review, reviewCommand, maxRetries, findingThreshold].some((one) => one !== undefined)],
    ["triggers", flags.trigger !== undefined],
  ];
  return new Set(given.filter(([, is]) => is).map(([topic]) => topic));
}

function readPreset(text: string | undefined): PresetName | null | undefined {
  if (text === undefined || isPresetName(text)) return text;
  if (text === "none") return null;
  throw new UserError(`--preset ${text} is not one of ${presetNames.join(", ")}, none`);
}

function readAgent({ agent, agentCommand }: InitFlags, start: Answers, found: Found): Answers["agent"] {
  if (agent === undefined && agentCommand === undefined) return start.agent;
  const known = found.agents.find(({ program }) => program === agent);
  const type = known?.type ?? agentKinds.find((kind) => kind === (agent ?? "command"));
  if (type === undefined) {
    const names = [...found.agents.map(({ program }) => program), "command"];
    throw new UserError(`--agent ${agent} is not one of ${names.join(", ")}`);
  }
  if (agentCommand !== undefined) return { type, command: readProgram("--agent-command", agentCommand) };
  if (type === "command") {
    throw new UserError("--agent command does not say which program", { hint: 'give --agent-command "program args"' });
  }
  return { type, command: known?.command ?? [] };
}

function readProgram(flag: string, line: string): string[] {
  const wrong = checkProgramLine(line);
  if (wrong !== null) throw new UserError(`${flag} ${JSON.stringify(line)}: ${wrong}`);
  return splitWords(line) ?? [];
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

function namesIn(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "" && name !== "none");
}

const reviewers: readonly OfferedReviewer[] = ["agent_sdk", "cerberus", "command"];

function readReview(flags: InitFlags): ReviewAnswer | null {
  const { review, reviewCommand, maxRetries, findingThreshold } = flags;
  if (review === "none" || !topicsOf(flags).has("review")) return null;
  const type = reviewers.find((one) => one === (review ?? "command"));
  if (type === undefined) throw new UserError(`--review ${review} is not one of ${reviewers.join(", ")}, none`);
  if (type === "command" && reviewCommand === undefined) {
    throw new UserError("a review by a command needs the program", { hint: 'give --review-command "program args"' });
  }
  const rounds = maxRetries === undefined ? defaultReview.maxRetries : parseWhole(maxRetries);
  if (rounds === null) throw new UserError(`--max-retries ${maxRetries} is not a whole number of 0 or more`);
  const threshold = thresholds.find((one) => one === (findingThreshold ?? defaultReview.threshold));
  if (threshold === undefined) {
    throw new UserError(`--finding-threshold ${findingThreshold} is not one of ${thresholds.join(", ")}`);
  }
  const command = reviewCommand === undefined ? [] : readProgram("--review-command", reviewCommand);
  return { type, command, maxRetries: rounds, threshold };
}

function readTrigger(text: string): Answers["triggers"][number] {
  const [kind = "", list = ""] = text.split("=", 2);
  const name = triggerNames.find((one) => one === kind.trim());
  if (name !== undefined) return defaultTrigger(name, namesIn(list));
  throw new UserError(`--trigger ${text} does not name one of ${triggerNames.join(", ")}`, {
    hint: "--trigger session_end=test,lint",
  });
}
