import { isPresetName, presetNames } from "../../config/presets.js";
import { commandsOf, type Found, type FoundAgent, placeholderAgent } from "./answers.js";
import { checkProgramLine } from "./check-program.js";
import { agentOptions, isSameAgent, toAgent } from "./choose-agent.js";
import { judging } from "./judging.js";
import type { Option, Question, QuestionOf } from "./question.js";
import { reviewQuestions } from "./review-questions.js";
import { joinWords, splitWords } from "./split-words.js";
import { triggerQuestions } from "./trigger-questions.js";

const preset: QuestionOf<"one"> = {
  kind: "one",
  id: "preset",
  topic: "preset",
  prompt: (answers, { stacks }) => ({
    message: "Which commands does the project start from?",
    options: [
      ...presetNames.map((value): Option => {
        const file = stacks.find((stack) => stack.preset === value)?.file;
        return { value, label: value, ...(file === undefined ? {} : { hint: `${file} is there` }) };
      }),
      { value: "none", label: "none", hint: "only commands of your own" },
    ],
    initial: answers.preset ?? "none",
  }),
  take: (answers, value, found) => ({ ...answers, ...commandsOf(found, isPresetName(value) ? value : null) }),
};

const agentNews: QuestionOf<"tell"> = {
  kind: "tell",
  id: "agent-news",
  topic: "agent",
  prompt: (_, found) => {
    const names = notYetDriven(found).map(({ program }) => program);
    return names.length === 0 ? null : { title: "Agents", text: notYetDrivenText(names) };
  },
  take: (answers) => answers,
};

function notYetDriven({ agents }: Found): FoundAgent[] {
  return agents.filter(({ isOnPath, isAvailable }) => isOnPath && !isAvailable);
}

function notYetDrivenText(names: readonly string[]): string {
  const [are, them] = names.length === 1 ? ["is", "it"] : ["are", "them"];
  return `${names.join(", ")} ${are} installed, but this version cannot drive ${them} by name yet: give a command that starts ${them}.`;
}

/** One line for those who are not asked; null: nothing to say. */
export function agentRemark(found: Found): string | null {
  const names = notYetDriven(found).map(({ program }) => program);
  return names.length === 0 ? null : notYetDrivenText(names);
}

const agent: QuestionOf<"one"> = {
  kind: "one",
  id: "agent",
  topic: "agent",
  prompt: ({ agent }, { agents }) => ({
    message: "Who implements the issues?",
    options: agentOptions(agents, "any program: prompt on stdin, commits its work"),
    initial: agents.find((one) => one.isAvailable && isSameAgent(one, agent))?.program ?? "command",
  }),
  take: (answers, value, { agents }) => {
    const chosen = agents.find(({ program }) => program === value);
    if (chosen !== undefined) return { ...answers, agent: toAgent(chosen) };
    const command = answers.agent.type === "command" ? answers.agent.command : placeholderAgent.command;
    return { ...answers, agent: { type: "command", command } };
  },
};

const agentCommand: QuestionOf<"text"> = {
  kind: "text",
  id: "agent-command",
  topic: "agent",
  prompt: ({ agent: { type, command } }) => {
    if (type !== "command") return null;
    const isOpen = isSameAgent({ type, command }, placeholderAgent);
    return {
      message: "Which program, with which arguments?",
      initial: isOpen ? "" : joinWords(command),
      example: "my-agent --quiet",
      check: checkProgramLine,
    };
  },
  take: (answers, value) => ({ ...answers, agent: { type: "command", command: splitWords(value) ?? [] } }),
};

const commands: QuestionOf<"some"> = {
  kind: "some",
  id: "commands",
  topic: "commands",
  prompt: (answers, found) => {
    const candidates = answers.preset === null ? [] : found.candidates[answers.preset];
    if (candidates.length === 0) return null;
    return {
      message: "Which commands does the project have?",
      options: candidates.map(({ name, line, why }) => ({ value: name, label: name, hint: why ?? line })),
      initial: Object.keys(answers.commands),
    };
  },
  take: (answers, chosen, found) => {
    const candidates = answers.preset === null ? [] : found.candidates[answers.preset];
    const on = candidates.filter(({ name }) => chosen.includes(name));
    return {
      ...answers,
      commands: Object.fromEntries(on.map(({ name, line }) => [name, line])),
      required: answers.required.filter((name) => chosen.includes(name)),
    };
  },
};

const testCommand: QuestionOf<"text"> = {
  kind: "text",
  id: "test-command",
  topic: "commands",
  prompt: (answers) => {
    if (Object.hasOwn(answers.commands, "test")) return null;
    const message = "Which command line runs the tests? Leave it empty if there is none.";
    return { message, initial: "", example: "make test", check: () => null };
  },
  take: (answers, value) => {
    const line = value.trim();
    if (line === "") return answers;
    const required = ["test", ...answers.required.filter((name) => name !== "test")];
    return { ...answers, commands: { ...answers.commands, test: line }, required };
  },
};

const evidence: QuestionOf<"some"> = {
  kind: "some",
  id: "evidence",
  topic: "evidence",
  prompt: (answers) => {
    const names = judging(answers);
    if (names.length === 0) return null;
    return {
      message: "Which of them must pass on a commit before an issue is done?",
      options: names.map((name) => ({ value: name, label: name, hint: answers.commands[name] ?? "" })),
      initial: answers.required,
    };
  },
  take: (answers, required) => ({ ...answers, required }),
};

/** All of them, in the order they are asked. The review of each issue comes before triggers: it decides about theirs. */
export const questions: readonly Question[] = [
  preset,
  agentNews,
  agent,
  agentCommand,
  commands,
  testCommand,
  evidence,
  ...reviewQuestions,
  ...triggerQuestions,
];
