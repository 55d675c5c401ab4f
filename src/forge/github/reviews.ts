import type { NewReview } from "../../core/ports/forge.js";
import { createOnce } from "../../lib/github-client/create-once.js";
import { GithubError } from "../../lib/github-client/failure.js";
import { asText, type Hunk, hunksOf, isInDiff } from "./diff-lines.js";
import { readReview } from "./feedback.js";
import { findOwn, marked, type Pen, postComment } from "./posts.js";
import * as wire from "./wire.js";

interface Posted {
  readonly id: string;
  readonly refused: boolean;
}

const events = { approve: "APPROVE", request_changes: "REQUEST_CHANGES", comment: "COMMENT" } as const;

interface Attempt {
  readonly event: (typeof events)[NewReview["verdict"]];
  readonly inline: NewReview["comments"];
  readonly refused: boolean;
}

/** One review, with its comments on the lines that the diff shows and the others in its text. */
export async function postReview(pen: Pen, number: number, review: NewReview): Promise<Posted> {
  const { github, signal } = pen;
  const me = await pen.me();
  const find = async (): Promise<Posted | null> => {
    const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews";
    const list = await github.list({ route, with: { pull_number: number }, signal }, readReview);
    const found = findOwn(list, review.key, me);
    const isWeaker = found?.state === "COMMENTED" && review.verdict !== "comment";
    return found === null ? null : { id: String(found.id), refused: isWeaker };
  };
  const create = async (): Promise<Posted> => {
    const hunks = await readHunks(pen, number);
    const inline = review.comments.filter((comment) => isInDiff(comment, hunks));
    return post(pen, number, { review, attempt: { event: events[review.verdict], inline, refused: false } });
  };
  return createOnce<Posted>({ find, create }, signal);
}

async function readHunks({ github, signal }: Pen, number: number): Promise<Map<string, Hunk[]>> {
  const call = { route: "GET /repos/{owner}/{repo}/pulls/{pull_number}/files", with: { pull_number: number }, signal };
  const files = await github.list(call, wire.reader(wire.file, "a changed file"));
  return new Map(files.map(({ filename, patch }) => [filename, hunksOf(patch ?? "")]));
}

interface Wanted {
  readonly review: NewReview;
  readonly attempt: Attempt;
}

/** Each refusal leads to something that asks for less, so it ends; the last is a plain comment. */
async function post(pen: Pen, number: number, { review, attempt }: Wanted): Promise<Posted> {
  try {
    const made = await pen.github.send({
      route: "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
      with: { pull_number: number, ...toWire(review, attempt) },
      signal: pen.signal,
    });
    return { id: String(readReview(made).id), refused: attempt.refused };
  } catch (error) {
    if (!(error instanceof GithubError) || error.status !== 422) throw error;
    const weaker = nextAttempt(attempt, error.message);
    if (weaker !== null) return post(pen, number, { review, attempt: weaker });
    const { key } = review;
    return { ...(await postComment(pen, number, { key, body: textOf(review, []) })), refused: true };
  }
}

/** GitHub lets nobody judge a pull request of his own; a comment it takes. */
function nextAttempt(attempt: Attempt, message: string): Attempt | null {
  const isOwn = /own pull request/i.test(message);
  if (isOwn && attempt.event !== "COMMENT") return { ...attempt, event: "COMMENT", refused: true };
  return attempt.inline.length > 0 ? { ...attempt, inline: [] } : null;
}

function textOf({ body, comments }: NewReview, inline: NewReview["comments"]): string {
  const others = comments.filter((comment) => !inline.includes(comment));
  return [body, asText(others)].filter((text) => text.trim() !== "").join("\n\n");
}

function toWire(review: NewReview, { event, inline }: Attempt): Record<string, unknown> {
  const comments = inline.map(({ path, line, startLine, body }) => {
    const start = startLine === undefined || startLine === line ? {} : { start_line: startLine, start_side: "RIGHT" };
    return { path, line, side: "RIGHT", ...start, body };
  });
  return { commit_id: review.commit, event, body: marked(textOf(review, inline), review.key), comments };
}
