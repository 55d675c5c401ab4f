import { ExternalError } from "../errors.js";

/**
 * What a request that did not succeed leads to. A limit is waited for, because a refused request changed nothing. An
 * outage is tried again only where doing it twice is the same as doing it once: of anything else nobody knows whether
 * it happened, and only whoever asked can look.
 */
export interface Failure {
  /** null: there was no whole answer. */
  readonly status: number | null;
  readonly message: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly timedOut: boolean;
}

export type WaitReason = "rate-limit" | "secondary-limit" | "outage";
export type Next =
  | { readonly type: "wait"; readonly reason: WaitReason; readonly until: number }
  | { readonly type: "give-up"; readonly retryable: boolean };

export interface Tries {
  readonly now: number;
  readonly repeatable: boolean;
  /** How often it was tried before, by what stopped it. */
  readonly outages: number;
  readonly limits: number;
  readonly backoffMs: readonly number[];
}

/** A limit resets within the hour; clocks differ a little. */
const longestLimitMs = 65 * 60_000;
const limitTries = 5;
const secondaryWaitSeconds = 60;

export function nextStep(failure: Failure, tries: Tries): Next {
  const limit = limitOf(failure, tries.now);
  if (limit !== null) {
    const isBearable = tries.limits < limitTries && limit.until - tries.now <= longestLimitMs;
    return isBearable ? { type: "wait", ...limit } : { type: "give-up", retryable: true };
  }
  const retryable = failure.status === null || failure.status >= 500;
  const backoff = tries.backoffMs[tries.outages];
  if (!retryable || failure.timedOut || !tries.repeatable || backoff === undefined) {
    return { type: "give-up", retryable };
  }
  return { type: "wait", reason: "outage", until: tries.now + backoff };
}

function limitOf({ status, headers, message }: Failure, now: number): { reason: WaitReason; until: number } | null {
  if (status !== 403 && status !== 429) return null;
  const reset = Number(headers["x-ratelimit-reset"]);
  if (headers["x-ratelimit-remaining"] === "0" && reset > 0) {
    // A second more: it is free again after that moment, not at it.
    return { reason: "rate-limit", until: Math.max(reset * 1000 + 1000, now + 1000) };
  }
  const after = headers["retry-after"];
  if (after === undefined && status !== 429 && !/secondary rate|abuse detection/i.test(message)) return null;
  const seconds = Number(after);
  return { reason: "secondary-limit", until: now + (seconds >= 0 ? seconds : secondaryWaitSeconds) * 1000 };
}

/** A request that failed for good. */
export class GithubError extends ExternalError {
  readonly status: number | null;
  readonly timedOut: boolean;
  /** It was to change something, and nobody knows whether it did. */
  readonly unsure: boolean;
  constructor(what: string, call: string, details: GithubErrorDetails) {
    const { failure, retryable, unsure, cause } = details;
    const hint = hintFor(failure.status);
    super(what, `${call}: ${wordsOf(failure)}`, { retryable, cause, ...(hint === null ? {} : { hint }) });
    this.status = failure.status;
    this.timedOut = failure.timedOut;
    this.unsure = unsure;
  }
}
interface GithubErrorDetails {
  readonly failure: Failure;
  readonly retryable: boolean;
  readonly unsure: boolean;
  readonly cause: unknown;
}

function wordsOf({ status, message }: Failure): string {
  const words = message.replace(/\s+/g, " ").trim().slice(0, 300);
  return status === null ? words : `${status}${words === "" ? "" : `, ${words}`}`;
}

function hintFor(status: number | null): string | null {
  if (status === 401) return "the token is not accepted: check GITHUB_TOKEN, GH_TOKEN or `gh auth status`";
  if (status === 403) return "the token may lack the rights: see docs/github.md";
  if (status === 404) return "check forge.repo and whether the token may see it";
  return null;
}
