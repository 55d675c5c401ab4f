import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { PayloadComment } from "../../core/board/payload.js";
import { endsWithMarker, withoutMarker } from "../../core/marker.js";
import type { Author, Check, Comment, Feedback, InlineComment, Review } from "../../core/ports/forge.js";
import type { OwnFinding, SeenRemark } from "../../core/pull-request/events.js";
import { checkId, conflictId, ownId } from "../../core/pull-request/intake.js";
import { isMissing, readJson } from "../../lib/files.js";

/**
 * What a rework is told, part by part, under the ids that the pull request's machine knows. The texts are kept in one
 * file per look: the journal holds ids, the item that is made from them holds the words.
 */
export interface Part {
  readonly id: string;
  /** In the summary. */
  readonly text?: string;
  /** At its place. */
  readonly comment?: PayloadComment;
  /** An agent may see it as what came before another remark: its author is trusted, or a person let these words through. */
  readonly quotable?: true;
}

export type Remark = Omit<SeenRemark, "body"> & { readonly words: string };

export interface Self {
  readonly login: string;
  /** Ids of remarks that we posted. */
  readonly posted: readonly string[];
}

/**
 * Everything that was said, and what of it is ours: by what we remember to have posted, else by account and the marker at
 * its end. A person may share our account and quote us.
 */
export function remarksOf({ reviews, inline, comments }: Feedback, self: Self): Remark[] {
  const posted = new Set(self.posted);
  const isOurs = (id: string, { author, body }: { readonly author: Author; readonly body: string }) =>
    posted.has(id) || (author.login === self.login && endsWithMarker(body));
  const ourReviews = new Set(reviews.filter((one) => isOurs(`review:${one.id}`, one)).map(({ id }) => id));
  return [
    ...reviews.filter(({ state }) => state !== "pending").map((one) => reviewRemark(one, ourReviews.has(one.id))),
    ...inline.map((one) => inlineRemark(one, isOurs(`inline:${one.id}`, one) || ourReviews.has(one.review ?? ""))),
    ...comments.map((one) => commentRemark(one, isOurs(`comment:${one.id}`, one))),
  ];
}

function reviewRemark({ id, author, state, body, commit, submittedAt }: Review, own: boolean): Remark {
  const verdict = state === "pending" ? null : state;
  const place = { path: "", line: null };
  return {
    id: `review:${id}`,
    kind: "review",
    thread: null,
    own,
    verdict,
    commit,
    at: submittedAt,
    ...place,
    ...said(author, body, place),
  };
}
function inlineRemark(one: InlineComment, own: boolean): Remark {
  const { id, thread, author, path, body, commit, createdAt: at } = one;
  const place = { path, line: one.about === "file" ? null : (one.line ?? one.originalLine) };
  return {
    id: `inline:${id}`,
    kind: "inline",
    thread,
    own,
    verdict: null,
    commit,
    at,
    ...place,
    // Where it was made: the line now moves with every push.
    ...said(author, body, { path, line: one.originalLine ?? one.line }),
  };
}
function commentRemark({ id, author, body, createdAt: at }: Comment, own: boolean): Remark {
  const place = { path: "", line: null };
  return {
    id: `comment:${id}`,
    kind: "comment",
    thread: null,
    own,
    verdict: null,
    commit: null,
    at,
    ...place,
    ...said(author, body, place),
  };
}

function said({ login, association }: Author, words: string, { path, line }: Pick<Remark, "path" | "line">) {
  const digest = createHash("sha256")
    .update(JSON.stringify([login, path, line, words]))
    .digest("hex")
    .slice(0, 16);
  return { login, association, words, digest };
}

/** `quotable`: ids of remarks that may be shown beside another. */
export function partsOf(feedback: Feedback, quotable: ReadonlySet<string>): Part[] {
  return [
    ...feedback.reviews.map(({ id, author, body, state }) => ({
      id: `review:${id}`,
      text: `Review by @${author.login ?? "unknown"} (${state.replace("_", " ")}):\n${body}`.trim(),
    })),
    ...feedback.inline.map((one) => {
      const id = `inline:${one.id}`;
      return { id, comment: toPayload(one), ...(quotable.has(id) ? { quotable: true as const } : {}) };
    }),
    ...feedback.comments.map(({ id, author, body }) => ({
      id: `comment:${id}`,
      text: `Comment by @${author.login ?? "unknown"}:\n${body}`,
    })),
  ];
}

function toPayload({
  id,
  thread,
  author,
  path,
  line,
  originalLine,
  about,
  body,
  createdAt,
}: InlineComment): PayloadComment {
  return {
    ...{ path, body, id, thread, author: author.login ?? "unknown", created_at: createdAt },
    line: about === "file" ? null : (line ?? originalLine),
    ...(about === "line" && line === null ? { outdated: true } : {}),
  };
}

/** So many of a long thread, and always the one that began it. */
const earlierMax = 10;

/** What was said in its thread before and does not go along itself, so that an answer is not read without its question. */
export function withEarlier(part: Part, all: readonly Part[], along: ReadonlySet<string>): PayloadComment | null {
  const { comment } = part;
  if (!comment?.thread) return comment ?? null;
  const before = all.slice(0, Math.max(0, all.indexOf(part)));
  const thread = before.filter((one) => one.quotable && !along.has(one.id) && one.comment?.thread === comment.thread);
  const [first, ...rest] = thread.flatMap(({ comment: one }) => one ?? []);
  if (!first) return comment;
  const earlier = [first, ...rest.slice(-(earlierMax - 1))].map(({ author, body, created_at }) => ({
    author,
    created_at,
    body: withoutMarker(body),
  }));
  return { ...comment, earlier };
}

export function checkPart({ name, commit }: Check, words: string): Part {
  return {
    id: checkId({ name, commit }),
    text: `The check "${name}" failed on ${commit.slice(0, 12)}:\n${words}`.trim(),
  };
}

export function conflictPart(head: string, base: string): Part {
  return { id: conflictId(head), text: `The branch conflicts with ${base}.` };
}

export function ownPart(item: string, index: number, finding: OwnFinding & { readonly words: string }): Part {
  const { file, line_start, title, words, reviewer } = finding;
  const id = ownId(item, index);
  if (file === "") return { id, text: `Ratchet's reviewer ${reviewer}: ${title}\n${words}` };
  const body = `${title}\n\n${words}`.trim();
  return { id, comment: { path: file, line: line_start, body, author: reviewer, created_at: "", id } };
}

export function lookPath(folder: string, key: string): string {
  return join(folder, `${key.replace(":", "-")}.json`);
}

/** Written by `look`; one that is gone or broken is an error, never an empty list. */
export async function readParts(path: string): Promise<ReadonlyMap<string, Part>> {
  const value = await readJson(path);
  if (!Array.isArray(value)) throw new Error(`${path} is gone or broken`);
  return new Map(value.filter(isPart).map((part) => [part.id, part]));
}
/** What the newest look has seen; nothing where there was none yet. */
export async function newestParts(folder: string): Promise<ReadonlyMap<string, Part>> {
  const [newest] = looksIn(folder);
  return newest === undefined ? new Map() : await readParts(newest);
}

/** The newest first. */
export function looksIn(folder: string): string[] {
  if (isMissing(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => /^look-(\d+)\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a)
    .map((number) => lookPath(folder, `look:${number}`));
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && "id" in value && typeof value.id === "string";
}
