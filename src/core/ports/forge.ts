/**
 * Where pull requests live. Every call either tells the whole truth or throws ExternalError: a failing request is never
 * an empty list. Everything that makes something is found again first, by the hidden marker that its text ends with
 * (`<!-- ratchet:<key> -->`), so that asking twice makes it once. Every call ends soon after its signal; one that writes
 * lets the request that is under way come to its end first, so that nobody looks for it too early.
 */
export interface Forge {
  readonly kind: "github" | "memory";
  /** owner/name. */
  readonly repo: string;
  /** What will keep us from opening pull requests there, such as a token that is not accepted; null: nothing that is known now. */
  obstacle?(signal?: AbortSignal): Promise<Obstacle | null>;
  /** Who the token belongs to: what this one writes is never feedback. */
  whoAmI(signal?: AbortSignal): Promise<string>;
  /** The open or closed pull request whose head is this branch of the repository; of several the newest. */
  pullRequestOf(branch: string, signal?: AbortSignal): Promise<PullRequest | null>;
  pullRequest(number: number, signal?: AbortSignal): Promise<PullRequest>;
  /** Opens one, or returns the open one that is there already for the branch. */
  openPullRequest(wanted: NewPullRequest, signal?: AbortSignal): Promise<PullRequest>;
  /** Everything that was said and checked. Parts that could not be fetched are named, the others are kept. */
  feedback(number: number, options: FeedbackOptions): Promise<Feedback>;
  /**
   * Has anything about it changed since the poll that gave this cursor? One conditional request where its checks have
   * ended; `unchanged` costs no rate limit. The caller keeps the cursor together with what it made of the change, so
   * that nothing is missed by whoever dies in between; null: never looked at.
   */
  poll(number: number, since: string | null, signal?: AbortSignal): Promise<Poll>;
  /** The end of a failing check's log, or of its summary where there is no log. */
  checkLog(check: Check, maxBytes: number, signal?: AbortSignal): Promise<string>;
  /** A comment on the pull request itself. `key` makes it findable; told twice, it is there once. */
  comment(
    number: number,
    comment: { readonly key: string; readonly body: string },
    signal?: AbortSignal,
  ): Promise<{ readonly id: string }>;
  /** An answer in an inline comment's thread. */
  reply(
    number: number,
    reply: { readonly key: string; readonly thread: string; readonly body: string },
    signal?: AbortSignal,
  ): Promise<{ readonly id: string }>;
  /** Our reviewer's verdict, with inline comments. `refused`: the forge does not let us review this one (our own): it was posted as a comment instead. */
  review(
    number: number,
    review: NewReview,
    signal?: AbortSignal,
  ): Promise<{ readonly id: string; readonly refused: boolean }>;
  /** Merges at exactly this head. */
  merge(
    number: number,
    how: { readonly method: MergeMethod; readonly head: string },
    signal?: AbortSignal,
  ): Promise<MergeOutcome>;
  /** Puts a label on it; fine when it is there. */
  label(number: number, label: string, signal?: AbortSignal): Promise<void>;
  /** How many requests are left, where the forge tells. */
  budget?(): { readonly left: number; readonly resetsAt: number } | null;
}

export interface Obstacle {
  readonly message: string;
  readonly hint: string;
}

export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly title: string;
  readonly body: string;
  readonly state: "open" | "closed" | "merged";
  readonly draft: boolean;
  readonly author: Author;
  readonly head: { readonly branch: string; readonly sha: string; readonly repo: string | null };
  readonly base: { readonly branch: string; readonly sha: string };
  /** null: the forge has not worked it out yet: ask again. */
  readonly mergeable: boolean | null;
  readonly mergeCommit: string | null;
  readonly updatedAt: string;
}
/** login null: the account was deleted. */
export interface Author {
  readonly login: string | null;
  readonly association: string;
  readonly bot: boolean;
}

export interface NewPullRequest {
  readonly key: string;
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly draft: boolean;
}

export interface FeedbackOptions {
  /** The whole of it, all pages. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}
export type FeedbackPart = "reviews" | "inline" | "comments" | "checks";
export interface Feedback {
  readonly reviews: readonly Review[];
  readonly inline: readonly InlineComment[];
  readonly comments: readonly Comment[];
  readonly checks: readonly Check[];
  /** Parts that could not be fetched, and why. What they hold stays undelivered. */
  readonly failed: readonly {
    readonly part: FeedbackPart;
    readonly result: "timeout" | "error";
    readonly reason: string;
  }[];
}
export interface Review {
  readonly id: string;
  readonly author: Author;
  readonly body: string;
  readonly state: "approved" | "changes_requested" | "commented" | "dismissed" | "pending";
  readonly commit: string | null;
  readonly submittedAt: string;
}
export interface InlineComment {
  readonly id: string;
  /** The comment that began the thread; its own id where it began one. */
  readonly thread: string;
  readonly review: string | null;
  readonly author: Author;
  readonly path: string;
  /** The line now; null: it is gone, or the comment is about the whole file. */
  readonly line: number | null;
  readonly originalLine: number | null;
  readonly startLine: number | null;
  readonly about: "line" | "file";
  readonly body: string;
  readonly createdAt: string;
  readonly commit: string;
}
export interface Comment {
  readonly id: string;
  readonly author: Author;
  readonly body: string;
  readonly createdAt: string;
}
/** A check run or a commit status, on the head commit. */
export interface Check {
  readonly id: string;
  readonly name: string;
  readonly commit: string;
  readonly status: "pending" | "success" | "failure" | "neutral";
  readonly required: boolean;
  readonly summary: string;
  readonly url: string | null;
  /** Whose log can be fetched. */
  readonly job: string | null;
}

export type Poll =
  | { readonly type: "unchanged" }
  | { readonly type: "changed"; readonly pullRequest: PullRequest; readonly cursor: string };

export interface NewReview {
  readonly key: string;
  readonly commit: string;
  readonly verdict: "approve" | "request_changes" | "comment";
  readonly body: string;
  readonly comments: readonly {
    readonly path: string;
    readonly line: number;
    readonly startLine?: number;
    readonly body: string;
  }[];
}

export type MergeMethod = "squash" | "merge" | "rebase";
export type MergeOutcome =
  | { readonly type: "merged"; readonly commit: string }
  /** It had been merged before. */
  | { readonly type: "already-merged"; readonly commit: string | null }
  /** The head moved meanwhile. */
  | { readonly type: "moved" }
  /** Conflicts, protection, missing approval: what the forge said. */
  | { readonly type: "refused"; readonly reason: string };
