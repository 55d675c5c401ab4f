import { type Answers, defaultReview, type OfferedReviewer, type ReviewAnswer } from "./answers.js";
import { checkProgramLine } from "./check-program.js";
import type { Question, QuestionOf } from "./question.js";
import { joinWords, splitWords } from "./split-words.js";

const topic = "review";

const meaning: QuestionOf<"tell"> = {
  kind: "tell",
  id: "review-meaning",
  topic,
  prompt: () => ({
    title: "Per-issue review",
    text: [
      "A reviewer can read each issue's diff before it lands; what it finds goes back to the agent.",
      "Enabling it also determines the reviewer of all reviews, trigger reviews included.",
    ].join("\n"),
  }),
  take: (answers) => answers,
};

const enable: QuestionOf<"confirm"> = {
  kind: "confirm",
  id: "review",
  topic,
  prompt: ({ review }) => ({ message: "Enable per-issue review?", initial: review !== null }),
  take: (answers, yes, { reviewers }) => {
    if (!yes) return { ...answers, review: null };
    const usable = reviewers.find(({ missing }) => missing === null)?.type ?? defaultReview.type;
    return { ...answers, review: answers.review ?? { ...defaultReview, type: usable } };
  },
};

const meanings: Readonly<Record<OfferedReviewer, string>> = {
  agent_sdk: "an agent that only reads",
  cerberus: "the review program cerberus",
  command: "any program that prints a verdict",
};

const type: QuestionOf<"one"> = {
  kind: "one",
  id: "reviewer-type",
  topic,
  prompt: ({ review }, { reviewers }) =>
    review === null
      ? null
      : {
          message: "Who reviews?",
          options: reviewers.map((one) => ({
            value: one.type,
            label: one.type,
            hint: one.missing ?? meanings[one.type],
          })),
          initial: review.type,
        },
  take: (answers, value, { reviewers }) => {
    const chosen = reviewers.find((one) => one.type === value)?.type;
    return chosen === undefined ? answers : change(answers, { type: chosen });
  },
};

const command: QuestionOf<"text"> = {
  kind: "text",
  id: "reviewer-command",
  topic,
  prompt: ({ review }) =>
    review?.type === "command"
      ? {
          message: "Which program reviews, with which arguments?",
          initial: joinWords(review.command),
          example: "my-reviewer --strict",
          check: checkProgramLine,
        }
      : null,
  take: (answers, value) => change(answers, { command: splitWords(value) ?? [] }),
};

const retries: QuestionOf<"text"> = {
  kind: "text",
  id: "review-max-retries",
  topic,
  prompt: ({ review }) =>
    review === null
      ? null
      : {
          message: "How many rounds of review does an issue get?",
          initial: String(review.maxRetries),
          check: (text) => (parseWhole(text) === null ? "a whole number of 0 or more" : null),
        },
  take: (answers, value) => change(answers, { maxRetries: parseWhole(value) ?? defaultReview.maxRetries }),
};

export const thresholds = ["none", "P0", "P1", "P2", "P3"] as const;

const threshold: QuestionOf<"one"> = {
  kind: "one",
  id: "review-threshold",
  topic,
  prompt: ({ review }) =>
    review === null
      ? null
      : {
          message: "Which findings keep an issue from landing?",
          options: thresholds.map((value) => ({
            value,
            label: value,
            hint: value === "none" ? "P0 and P1 block" : value === "P0" ? "only P0 blocks" : `${value} and worse block`,
          })),
          initial: review.threshold,
        },
  take: (answers, value) => {
    const chosen = thresholds.find((one) => one === value);
    return chosen === undefined ? answers : change(answers, { threshold: chosen });
  },
};

function change(answers: Answers, patch: Partial<ReviewAnswer>): Answers {
  return { ...answers, review: { ...(answers.review ?? defaultReview), ...patch } };
}

/** null: not a whole number of 0 or more. */
export function parseWhole(text: string): number | null {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text.trim()) : null;
}

export const reviewQuestions: readonly Question[] = [meaning, enable, type, command, retries, threshold];
