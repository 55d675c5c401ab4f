import type { TurnOutcome, Usage } from "../issue/events.js";
import { toSessionId } from "../session-id.js";
import type { Turn } from "./agent.js";

/**
 * The protocol any program can speak as an agent or a reviewer: variables in, an exit code and a result file out. What
 * the program wrote is foreign: a wrong type is as good as nothing, and nothing in it is ever an exception.
 */
export function turnEnvironment(turn: Turn): Record<string, string> {
  return {
    RATCHET_ROLE: turn.role,
    RATCHET_PROMPT_KIND: turn.prompt,
    RATCHET_RUN_ID: turn.runId,
    RATCHET_ISSUE_ID: turn.issueId,
    RATCHET_STAGE_ID: turn.stageId,
    RATCHET_ATTEMPT: String(turn.attempt),
    ...(turn.visit === undefined ? {} : { RATCHET_VISIT: String(turn.visit) }),
    RATCHET_RESULT_FILE: turn.files.result,
    ...(turn.sessionId === null ? {} : { RATCHET_SESSION_ID: turn.sessionId }),
    ...(turn.model === null ? {} : { RATCHET_MODEL: turn.model }),
    ...(turn.effort === null ? {} : { RATCHET_EFFORT: turn.effort }),
    ...(turn.provider === undefined ? {} : { RATCHET_PROVIDER: turn.provider }),
    ...(turn.review === null ? {} : reviewEnvironment(turn.review)),
  };
}

function reviewEnvironment(review: NonNullable<Turn["review"]>): Record<string, string> {
  return {
    RATCHET_REVIEWER: review.reviewer,
    RATCHET_BASE_SHA: review.baseSha,
    RATCHET_HEAD_SHA: review.headSha,
  };
}

/** `lastWords`: what the program said last on stderr, for the reason of a failure. */
export function outcomeOfExit(exitCode: number | null, lastWords: string): TurnOutcome {
  if (exitCode === null) return { type: "lost" };
  if (exitCode === 0) return { type: "ended" };
  const reason = lastWords === "" ? exitReason(exitCode) : `${exitReason(exitCode)}: ${lastWords}`;
  if (exitCode === 75) return { type: "transient", reason };
  if (exitCode === 66) return { type: "no-session" };
  return { type: "failed", reason };
}

function exitReason(exitCode: number): string {
  if (exitCode === 127) return "the program was not found (exit code 127)";
  if (exitCode === 126) return "the program cannot be executed (exit code 126)";
  return exitCode > 128 ? `ended by signal ${exitCode - 128}` : `exit code ${exitCode}`;
}

export interface TurnResult {
  readonly sessionId: string | null;
  readonly usage: Usage | null;
  /** The whole object, for whoever knows more of its keys; null: there was none. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** What `parseTurnResult` reads. */
export const turnResultKeys = ["session_id", "usage"];

export function parseTurnResult(value: unknown): TurnResult {
  const fields = toFields(value);
  return {
    sessionId: toSessionId(fields?.session_id),
    usage: toUsage(toFields(fields?.usage)),
    fields,
  };
}

function toUsage(fields: Readonly<Record<string, unknown>> | null): Usage | null {
  if (fields === null) return null;
  return {
    input_tokens: Math.round(amount(fields.input_tokens) ?? 0),
    output_tokens: Math.round(amount(fields.output_tokens) ?? 0),
    cost_usd: amount(fields.cost_usd),
  };
}

function amount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

function toFields(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : null;
}
