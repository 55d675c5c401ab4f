import type { Feedback, FeedbackOptions, FeedbackPart } from "../../core/ports/forge.js";
import { messageOf } from "../../lib/errors.js";
import type { Github } from "../../lib/github-client/client.js";
import { openDeadline } from "../../lib/github-client/deadline.js";
import { GithubError } from "../../lib/github-client/failure.js";
import { readChecks } from "./checks.js";
import { readPullRequest } from "./pulls.js";
import { toComment, toInline, toReview } from "./to-port.js";
import * as wire from "./wire.js";

type Failed = Feedback["failed"][number];

/** All parts at once, within one time; each that fails is named, and the others are whole. */
export async function readFeedback(github: Github, number: number, options: FeedbackOptions): Promise<Feedback> {
  const deadline = openDeadline(options.timeoutMs, options.signal);
  const failed: Failed[] = [];
  const { signal } = deadline;
  const part = async <T>(name: FeedbackPart, read: () => Promise<T[]>): Promise<T[]> => {
    try {
      return await read();
    } catch (error) {
      options.signal?.throwIfAborted();
      const isLate = deadline.isOver() || (error instanceof GithubError && error.timedOut);
      const reason = deadline.isOver() ? `no answer within ${options.timeoutMs / 1000} s` : messageOf(error);
      failed.push({ part: name, result: isLate ? "timeout" : "error", reason });
      return [];
    }
  };
  const of = { with: { pull_number: number }, signal };
  try {
    const [reviews, inline, comments, checks] = await Promise.all([
      part("reviews", () =>
        github.list({ route: "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews", ...of }, readReview),
      ),
      part("inline", () =>
        github.list({ route: "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments", ...of }, readInline),
      ),
      part("comments", () => readComments(github, number, signal)),
      part("checks", async () => {
        const { head, base } = await readPullRequest(github, number, signal);
        return readChecks(github, { sha: head.sha, base: base.branch }, signal);
      }),
    ]);
    return {
      reviews: reviews.map(toReview),
      inline: inline.map(toInline),
      comments: comments.map(toComment),
      checks,
      failed,
    };
  } finally {
    deadline.close();
  }
}

export const readReview = wire.reader(wire.review, "a review");
export const readInline = wire.reader(wire.inline, "an inline comment");

export async function readComments(github: Github, number: number, signal?: AbortSignal): Promise<wire.WireComment[]> {
  const route = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments";
  return github.list({ route, with: { issue_number: number }, signal }, wire.reader(wire.comment, "a comment"));
}
