/**
 * What a work item carries besides its text, one shape per source, named as it is shown and stored. There is no free
 * JSON on the board: everything that is written and everything that is read goes through `parsePayload`.
 */
export type PayloadSource = WorkPayload["source"];

export type WorkPayload = ImplementPayload | CodeReviewPayload | ReworkPayload | PrMergePayload | MergeFixPayload;

/** Items that a pull request makes. Every other one, wherever it came from, is an issue that may get a pull request. */
export const pullRequestSources: readonly string[] = ["code_review", "rework", "pr_merge", "merge_fix"];

/** The source of the payload that an item of this source carries. */
export function payloadSourceOf(source: string): string {
  return pullRequestSources.includes(source) ? source : "implement";
}

/** What every item of one pull request says alike, from the implementation to the merge. */
export interface PullRequestFields {
  readonly pr_number: number;
  readonly pr_url: string;
  /** owner/name. */
  readonly repo: string;
  readonly branch: string;
  readonly base_branch: string;
  readonly project_id: string;
  readonly implementation_work_item_id: string;
  readonly worktree_path: string | null;
  readonly human_review_required: boolean;
  /** Whatever stands there is kept; `cyclesOf` tells what can be used of it. */
  readonly max_rework_cycles?: unknown;
  readonly escalation_reason?: string;
  readonly escalated_at?: string;
}

/** The issue itself: it learns of its pull request once there is one. */
export interface ImplementPayload extends Partial<PullRequestFields> {
  readonly source: "implement";
}
export interface CodeReviewPayload extends PullRequestFields {
  readonly source: "code_review";
  /** 0: the first review; k: the one after rework k. */
  readonly rework_cycle: number;
}
export interface ReworkPayload extends PullRequestFields {
  readonly source: "rework";
  readonly review_feedback: string;
  readonly rework_cycle: number;
  readonly inline_comments: readonly PayloadComment[];
  /** Which of max_rework_cycles it is, where a person has forgiven earlier ones. */
  readonly counted_cycle?: number;
  /** What has come to it since it was made, and before anybody began, by name. */
  readonly joined?: readonly string[];
}
export interface PrMergePayload extends PullRequestFields {
  readonly source: "pr_merge";
}
export interface MergeFixPayload extends PullRequestFields {
  readonly source: "merge_fix";
  readonly rework_cycle?: number;
  readonly counted_cycle?: number;
}

export interface PayloadComment {
  readonly path: string;
  /** null: about the whole file. */
  readonly line: number | null;
  readonly body: string;
  readonly author: string;
  readonly created_at: string;
  readonly id?: string;
  /** The comment that began the thread. */
  readonly thread?: string;
  /** The line is where it was when the comment was made. */
  readonly outdated?: boolean;
  /** What was said in its thread before, for whoever is to understand it; oldest first. */
  readonly earlier?: readonly EarlierComment[];
}
export type EarlierComment = Pick<PayloadComment, "author" | "body" | "created_at">;

/** Keys to set in a payload that is there already; which of them it may have is its source's business. */
export type PayloadPatch = Partial<PullRequestFields>;

/** null: it says nothing that can be used; `bad`: because what it says is no whole number from 0 up. */
export function cyclesOf(value: unknown): { readonly max: number | null; readonly bad: boolean } {
  if (value === undefined || value === null) return { max: null, bad: false };
  return isWhole(value, 0) ? { max: Number(value), bad: false } : { max: null, bad: true };
}

export type ParsedPayload =
  | { readonly ok: true; readonly payload: WorkPayload }
  | { readonly ok: false; readonly reason: string };

/** Null is no payload and is not asked for here. Unknown keys are refused, as are missing ones. */
export function parsePayload(value: unknown): ParsedPayload {
  if (!isRecord(value)) return refused("it is no object");
  const source = Object.keys(shapes).find((name) => name === value.source);
  if (source === undefined) return refused(`source ${show(value.source)} is not one of ${sources.join(", ")}`);
  const wrong = findWrong(value, shapes[source as PayloadSource]);
  // Every key has been checked against the shape of this very source.
  return wrong === null ? { ok: true, payload: value as unknown as WorkPayload } : refused(wrong);
}

function refused(reason: string): ParsedPayload {
  return { ok: false, reason: `not a payload: ${reason}` };
}

interface Key {
  readonly is: (value: unknown) => boolean;
  readonly what: string;
  readonly optional?: boolean;
}
type Shape = Readonly<Record<string, Key>>;

function findWrong(value: Readonly<Record<string, unknown>>, shape: Shape): string | null {
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(shape, name));
  if (unknown !== undefined) return `${unknown} is no key of it`;
  const wrong = Object.entries(shape).find(([name, key]) =>
    value[name] === undefined ? !key.optional : !key.is(value[name]),
  );
  return wrong === undefined ? null : `${wrong[0]} must be ${wrong[1].what}, not ${show(value[wrong[0]])}`;
}

const isText = (value: unknown) => typeof value === "string";
const isWhole = (value: unknown, least: number) => Number.isSafeInteger(value) && Number(value) >= least;
const text: Key = { is: isText, what: "a text" };
const textOrNull: Key = { is: (value) => value === null || isText(value), what: "a text or null" };
const flag: Key = { is: (value) => typeof value === "boolean", what: "true or false" };
const count: Key = { is: (value) => isWhole(value, 0), what: "a whole number" };
const positive: Key = { is: (value) => isWhole(value, 1), what: "a whole number of 1 or more" };
const lineOrNull: Key = { is: (value) => value === null || isWhole(value, 0), what: "a line or null" };
const texts: Key = { is: (value) => Array.isArray(value) && value.every(isText), what: "a list of texts" };
const optional = (key: Key): Key => ({ ...key, optional: true });

const earlier = { author: text, body: text, created_at: text } satisfies Record<keyof EarlierComment, Key>;
const listOf = (shape: Shape, what: string): Key => ({
  is: (value) => Array.isArray(value) && value.every((one) => isRecord(one) && findWrong(one, shape) === null),
  what,
});
const comment = {
  path: text,
  line: lineOrNull,
  body: text,
  author: text,
  created_at: text,
  id: optional(text),
  thread: optional(text),
  outdated: optional(flag),
  earlier: optional(listOf(earlier, "a list of {author, body, created_at}")),
} satisfies Record<keyof PayloadComment, Key>;
const comments = listOf(comment, "a list of {path, line, body, author, created_at}");

const source: Key = text;
const pullRequest = {
  pr_number: positive,
  pr_url: text,
  repo: text,
  branch: text,
  base_branch: text,
  project_id: text,
  implementation_work_item_id: text,
  worktree_path: textOrNull,
  human_review_required: flag,
  max_rework_cycles: { is: () => true, what: "anything", optional: true },
  escalation_reason: optional(text),
  escalated_at: optional(text),
} satisfies Record<keyof PullRequestFields, Key>;
const shapes: Record<PayloadSource, Shape> = {
  implement: { source, ...Object.fromEntries(Object.entries(pullRequest).map(([name, key]) => [name, optional(key)])) },
  code_review: { source, ...pullRequest, rework_cycle: count },
  rework: {
    ...{ source, ...pullRequest, review_feedback: text, rework_cycle: positive, inline_comments: comments },
    ...{ counted_cycle: optional(positive), joined: optional(texts) },
  },
  pr_merge: { source, ...pullRequest },
  merge_fix: { source, ...pullRequest, rework_cycle: optional(positive), counted_cycle: optional(positive) },
};
const sources = Object.keys(shapes);

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const said = JSON.stringify(value) ?? "nothing";
  return said.length > 60 ? `${said.slice(0, 60)}…` : said;
}
