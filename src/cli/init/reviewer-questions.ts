import type { ReviewerKind } from "../../core/settings.js";
import type { Answers, Found, ReviewerAnswer } from "./answers.js";
import { checkProgramLine } from "./check-program.js";
import { agentOptions, isSameAgent, reviewingAgents, toAgent } from "./choose-agent.js";
import type { Question, QuestionOf } from "./question.js";
import { joinWords, splitWords } from "./split-words.js";

/** One reviewer among the answers: the only one there is, or a member of a panel. */
export interface Place {
  readonly id: string;
  /** Put before each question. */
  readonly title: string;
  /** null: nobody is asked for here. */
  readonly get: (answers: Answers) => ReviewerAnswer<ReviewerKind> | null;
  readonly change: (answers: Answers, patch: Partial<Pick<ReviewerAnswer, "command" | "agent">>) => Answers;
}

export const meanings: Readonly<Record<ReviewerKind, string>> = {
  agent_sdk: "an agent that only reads, another vendor's too",
  cerberus: "the review program cerberus",
  command: "any program that prints a verdict",
  panel: "several of these, side by side",
};

/** What a reviewer of its kind needs. */
export function reviewerDetails(place: Place): Question[] {
  return [agentOf(place), agentCommandOf(place), commandOf(place)];
}

function agentOf({ id, title, get, change }: Place): QuestionOf<"one"> {
  return {
    kind: "one",
    id: `${id}-agent`,
    topic: "review",
    prompt: (answers, found) => {
      const reviewer = get(answers);
      if (reviewer?.type !== "agent_sdk") return null;
      return {
        message: `${title}Which agent reviews?`,
        options: agentOptions(reviewingAgents(found), "a program that speaks as the agent command does"),
        initial: programOf(reviewer, found),
      };
    },
    take: (answers, value, found) => {
      const chosen = reviewingAgents(found).find(({ program }) => program === value);
      if (chosen !== undefined) return change(answers, { agent: toAgent(chosen) });
      const command = get(answers)?.agent.type === "command" ? (get(answers)?.agent.command ?? []) : [];
      return change(answers, { agent: { type: "command", command } });
    },
  };
}

function programOf({ agent }: ReviewerAnswer<ReviewerKind>, found: Found): string {
  return reviewingAgents(found).find((one) => one.isAvailable && isSameAgent(one, agent))?.program ?? "command";
}

function agentCommandOf({ id, title, get, change }: Place): QuestionOf<"text"> {
  return {
    kind: "text",
    id: `${id}-agent-command`,
    topic: "review",
    prompt: (answers) => {
      const reviewer = get(answers);
      if (reviewer?.type !== "agent_sdk" || reviewer.agent.type !== "command") return null;
      return {
        message: `${title}Which program is that agent, with which arguments?`,
        initial: joinWords(reviewer.agent.command),
        example: "my-agent --quiet",
        check: checkProgramLine,
      };
    },
    take: (answers, value) => change(answers, { agent: { type: "command", command: splitWords(value) ?? [] } }),
  };
}

function commandOf({ id, title, get, change }: Place): QuestionOf<"text"> {
  return {
    kind: "text",
    id: `${id}-command`,
    topic: "review",
    prompt: (answers) => {
      const reviewer = get(answers);
      if (reviewer?.type !== "command") return null;
      return {
        message: `${title}Which program reviews, with which arguments?`,
        initial: joinWords(reviewer.command),
        example: "my-reviewer --strict",
        check: checkProgramLine,
      };
    },
    take: (answers, value) => change(answers, { command: splitWords(value) ?? [] }),
  };
}
