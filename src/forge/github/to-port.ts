import type { Author, Check, Comment, InlineComment, PullRequest, Review } from "../../core/ports/forge.js";
import type { WireCheckRun, WireComment, WireInline, WirePull, WireReview, WireStatus } from "./wire.js";

interface Written {
  readonly user?: { readonly login: string; readonly type?: string | null | undefined } | null | undefined;
  readonly author_association?: string | null | undefined;
}

/** GitHub shows what a deleted account wrote as nobody's or as ghost's. */
function toAuthor({ user, author_association: association }: Written): Author {
  const login = user?.login ?? null;
  return {
    login: login === "ghost" ? null : login,
    association: association ?? "NONE",
    bot: user?.type === "Bot" || (login?.endsWith("[bot]") ?? false),
  };
}

export function toPullRequest(wire: WirePull): PullRequest {
  const { head, base } = wire;
  return {
    number: wire.number,
    url: wire.html_url,
    title: wire.title,
    body: wire.body ?? "",
    state: wire.merged ? "merged" : wire.state,
    draft: wire.draft ?? false,
    author: toAuthor(wire),
    head: { branch: head.ref, sha: head.sha, repo: head.repo?.full_name ?? null },
    base: { branch: base.ref, sha: base.sha },
    mergeable: wire.mergeable ?? null,
    // Before the merge it names a trial.
    mergeCommit: wire.merged ? (wire.merge_commit_sha ?? null) : null,
    updatedAt: wire.updated_at,
  };
}

const reviewStates = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "changes_requested",
  COMMENTED: "commented",
  DISMISSED: "dismissed",
  PENDING: "pending",
} as const;

export function toReview(wire: WireReview): Review {
  const known = Object.entries(reviewStates).find(([name]) => name === wire.state.toUpperCase());
  return {
    id: String(wire.id),
    author: toAuthor(wire),
    body: wire.body ?? "",
    // A word that is not known neither approves nor asks for anything.
    state: known?.[1] ?? "commented",
    commit: wire.commit_id ?? null,
    submittedAt: wire.submitted_at ?? "",
  };
}

export function toInline(wire: WireInline): InlineComment {
  return {
    id: String(wire.id),
    thread: String(wire.in_reply_to_id ?? wire.id),
    review: wire.pull_request_review_id == null ? null : String(wire.pull_request_review_id),
    author: toAuthor(wire),
    path: wire.path,
    line: wire.line ?? null,
    originalLine: wire.original_line ?? null,
    startLine: wire.start_line ?? null,
    about: wire.subject_type === "file" ? "file" : "line",
    body: wire.body,
    createdAt: wire.created_at,
    commit: wire.commit_id,
  };
}

export function toComment(wire: WireComment): Comment {
  return { id: String(wire.id), author: toAuthor(wire), body: wire.body ?? "", createdAt: wire.created_at };
}

/** A conclusion that is not known to be good is bad. */
const conclusions: Readonly<Record<string, Check["status"]>> = {
  success: "success",
  neutral: "neutral",
  skipped: "neutral",
};

export function toCheck(wire: WireCheckRun, isRequired: (name: string) => boolean): Check {
  const { output } = wire;
  // Programs often give the same words for each of them.
  const texts = new Set([output?.title, output?.summary, output?.text].flatMap((text) => text?.trim() || []));
  const summary = [...texts].join("\n\n");
  return {
    id: `run:${wire.id}`,
    name: wire.name,
    commit: wire.head_sha,
    status: wire.status === "completed" ? (conclusions[wire.conclusion ?? ""] ?? "failure") : "pending",
    required: isRequired(wire.name),
    summary,
    url: wire.details_url ?? wire.html_url ?? null,
    job: jobOf(wire),
  };
}

/** Only jobs of GitHub's own CI have a log that can be fetched. */
function jobOf({ id, app, details_url: url }: WireCheckRun): string | null {
  if (app?.slug !== "github-actions") return null;
  return /\/job\/(\d+)/.exec(url ?? "")?.[1] ?? String(id);
}

const statuses: Readonly<Record<string, Check["status"]>> = { success: "success", pending: "pending" };

export function statusToCheck(
  wire: WireStatus,
  { commit, isRequired }: { readonly commit: string; readonly isRequired: (name: string) => boolean },
): Check {
  return {
    id: `status:${wire.id}`,
    name: wire.context,
    commit,
    status: statuses[wire.state] ?? "failure",
    required: isRequired(wire.context),
    summary: wire.description ?? "",
    url: wire.target_url ?? null,
    job: null,
  };
}
