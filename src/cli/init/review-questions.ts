import { type Answers, defaultReview, type Found, type ReviewAnswer } from "./answers.js";
import { agentToReview } from "./choose-agent.js";
import { panelQuestions, withFirstMember } from "./panel-questions.js";
import type { Question, QuestionOf } from "./question.js";
import { meanings, reviewerDetails } from "./reviewer-questions.js";

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
  take: (answers, yes, found) => ({
    ...answers,
    review: yes ? (answers.review ?? suggestReview(answers, found)) : null,
  }),
};

/** An installed agent of another vendor is the best guess; else the first kind of which nothing is missing. */
function suggestReview(answers: Answers, found: Found): ReviewAnswer {
  const agent = agentToReview(answers, found);
  const usable = found.reviewers.filter(({ type, missing }) => missing === null && type !== "panel");
  const isNamed = found.agents.some((one) => one.isOnPath && one.canReview);
  const best = usable.find(({ type }) => (type === "agent_sdk") === isNamed) ?? usable[0];
  return defaultReview(best?.type ?? "command", agent);
}

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
  take: (answers, value, found) => {
    const chosen = found.reviewers.find((one) => one.type === value)?.type;
    return chosen === undefined ? answers : withFirstMember(change(answers, { type: chosen }), found);
  },
};

const details = reviewerDetails({
  id: "reviewer",
  title: "",
  get: ({ review }) => review,
  change: (answers, patch) => change(answers, patch),
});

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
  take: (answers, value) => change(answers, { maxRetries: parseWhole(value) ?? 3 }),
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
  return answers.review === null ? answers : { ...answers, review: { ...answers.review, ...patch } };
}

/** null: not a whole number of 0 or more. */
export function parseWhole(text: string): number | null {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text.trim()) : null;
}

export const reviewQuestions: readonly Question[] = [
  meaning,
  enable,
  type,
  ...details,
  ...panelQuestions,
  retries,
  threshold,
];
