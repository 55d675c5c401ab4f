import type { Answers, Found } from "./answers.js";

/** What a question is about, in the order of asking. */
export const topics = ["preset", "agent", "commands", "evidence", "review", "triggers"] as const;
export type Topic = (typeof topics)[number];

export interface Option {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
  /** Shown, but it cannot be chosen. */
  readonly disabled?: boolean;
}

/** The kinds of questions: what is shown, and what comes back. */
export interface Kinds {
  readonly tell: { readonly prompt: { readonly title: string; readonly text: string }; readonly value: null };
  readonly one: {
    readonly prompt: { readonly message: string; readonly options: readonly Option[]; readonly initial: string };
    readonly value: string;
  };
  readonly some: {
    readonly prompt: {
      readonly message: string;
      readonly options: readonly Option[];
      readonly initial: readonly string[];
    };
    readonly value: readonly string[];
  };
  readonly text: {
    readonly prompt: {
      readonly message: string;
      readonly initial: string;
      readonly example?: string;
      /** What is wrong with it; null: nothing. */
      readonly check: (text: string) => string | null;
    };
    readonly value: string;
  };
  readonly confirm: {
    readonly prompt: { readonly message: string; readonly initial: boolean };
    readonly value: boolean;
  };
}
type Kind = keyof Kinds;

export interface QuestionOf<K extends Kind> {
  readonly kind: K;
  readonly id: string;
  readonly topic: Topic;
  /** null: there is nothing to ask, given what is known. */
  readonly prompt: (answers: Answers, found: Found) => Kinds[K]["prompt"] | null;
  readonly take: (answers: Answers, value: Kinds[K]["value"], found: Found) => Answers;
}
export type Question = { [K in Kind]: QuestionOf<K> }[Kind];

/** The person does not want to go on. No text that can be typed is that. */
export const cancelled: unique symbol = Symbol("cancelled");
export type Cancelled = typeof cancelled;

/** Whoever can put questions. */
export type Asker = { readonly [K in Kind]: (prompt: Kinds[K]["prompt"]) => Promise<Kinds[K]["value"] | Cancelled> };

export interface Asking {
  readonly found: Found;
  readonly answers: Answers;
  /** Answered already, on the command line. */
  readonly given: ReadonlySet<Topic>;
}

/** One after the other, each seeing the answers before it. */
export async function askAll(
  questions: readonly Question[],
  asker: Asker,
  { found, answers, given }: Asking,
): Promise<Answers | Cancelled> {
  let known = answers;
  for (const question of questions) {
    if (given.has(question.topic)) continue;
    const next = await ask(question, asker, { found, answers: known });
    if (next === cancelled) return next;
    known = next;
  }
  return known;
}

type State = Pick<Asking, "found" | "answers">;

function ask(question: Question, asker: Asker, state: State): Promise<Answers | Cancelled> {
  switch (question.kind) {
    case "tell":
      return put(question, asker.tell, state);
    case "one":
      return put(question, asker.one, state);
    case "some":
      return put(question, asker.some, state);
    case "text":
      return put(question, asker.text, state);
    case "confirm":
      return put(question, asker.confirm, state);
  }
}

async function put<K extends Kind>(
  question: QuestionOf<K>,
  show: Asker[K],
  { found, answers }: State,
): Promise<Answers | Cancelled> {
  const prompt = question.prompt(answers, found);
  if (prompt === null) return answers;
  const value = await show(prompt);
  return value === cancelled ? value : question.take(answers, value, found);
}
