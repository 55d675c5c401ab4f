import type { Answers, Found, MemberAnswer, SingleReviewer } from "./answers.js";
import { memberName, nextMember, suggestName } from "./panel.js";
import type { Question, QuestionOf } from "./question.js";
import { meanings, type Place, reviewerDetails } from "./reviewer-questions.js";

const topic = "review";
/** Who wants more writes them into the file. */
const mostMembers = 8;

/** A panel without members gets its first one. */
export function withFirstMember(answers: Answers, found: Found): Answers {
  const { review } = answers;
  if (review?.type !== "panel" || review.members.length > 0) return answers;
  return { ...answers, review: { ...review, members: [nextMember(answers, found, [])] } };
}

function membersIn({ review }: Answers): readonly MemberAnswer[] {
  return review?.type === "panel" ? review.members : [];
}

function changeMember(answers: Answers, index: number, patch: Partial<MemberAnswer>): Answers {
  if (answers.review === null) return answers;
  const members = answers.review.members.map((one, at) => (at === index ? { ...one, ...patch } : one));
  return { ...answers, review: { ...answers.review, members } };
}

function anotherAt(index: number): QuestionOf<"confirm"> {
  return {
    kind: "confirm",
    id: `panel-${index + 1}-more`,
    topic,
    prompt: (answers) =>
      membersIn(answers).length === index ? { message: `A reviewer ${index + 1} too?`, initial: index === 1 } : null,
    take: (answers, yes, found) => {
      const { review } = answers;
      if (!yes || review === null) return answers;
      const members = [...review.members, nextMember(answers, found, review.members)];
      return { ...answers, review: { ...review, members } };
    },
  };
}

function typeAt(index: number): QuestionOf<"one"> {
  return {
    kind: "one",
    id: `panel-${index + 1}-type`,
    topic,
    prompt: (answers, { reviewers }) => {
      const member = membersIn(answers)[index];
      if (member === undefined) return null;
      return {
        message: `Reviewer ${index + 1}: What kind of reviewer?`,
        options: reviewers
          .filter(({ type }) => type !== "panel")
          .map(({ type, missing }) => ({ value: type, label: type, hint: missing ?? meanings[type] })),
        initial: member.type,
      };
    },
    take: (answers, value) => {
      const type = singleReviewers.find((one) => one === value);
      return type === undefined ? answers : changeMember(answers, index, { type });
    },
  };
}

export const singleReviewers: readonly SingleReviewer[] = ["agent_sdk", "cerberus", "command"];

function nameAt(index: number): QuestionOf<"text"> {
  return {
    kind: "text",
    id: `panel-${index + 1}-name`,
    topic,
    prompt: (answers, found) => {
      const member = membersIn(answers)[index];
      if (member === undefined) return null;
      const others = membersIn(answers).filter((_, at) => at !== index);
      return {
        message: `Reviewer ${index + 1}: What is it called?`,
        initial: member.name || suggestName(member, others, found),
        check: (text) => checkName(text.trim(), others),
      };
    },
    take: (answers, value) => changeMember(answers, index, { name: value.trim() }),
  };
}

function checkName(name: string, others: readonly MemberAnswer[]): string | null {
  if (!memberName.test(name)) return "lower-case letters, digits, _ and -, up to 64";
  return others.some((other) => other.name === name) ? "another reviewer is called that" : null;
}

function placeAt(index: number): Place {
  return {
    id: `panel-${index + 1}`,
    title: `Reviewer ${index + 1}: `,
    get: (answers) => membersIn(answers)[index] ?? null,
    change: (answers, patch) => changeMember(answers, index, patch),
  };
}

/** One member after the other, for as long as another one is wanted. */
export const panelQuestions: readonly Question[] = Array.from({ length: mostMembers }, (_, index) => index).flatMap(
  (index): Question[] => [
    ...(index === 0 ? [] : [anotherAt(index)]),
    typeAt(index),
    ...reviewerDetails(placeAt(index)),
    nameAt(index),
  ],
);
