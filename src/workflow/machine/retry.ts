import { hashText } from "../../core/ledger/hash.js";
import type { Backoff, Stage } from "../graph.js";

/** Executions of a visit when the world, not the stage, was at fault and the workflow says nothing about retries. */
const ownAttempts = 3;

/**
 * How often a visit is executed at most. `fail` is the stage's answer and asked for again only where the workflow says so;
 * `retry` is its wish, and machinery that broke has said nothing at all.
 */
export function attemptsFor(stage: Stage, why: "fail" | "retry" | "machinery"): number {
  if (stage.retriesFail) return Math.max(1, stage.maxAttempts);
  if (why === "fail") return 1;
  return stage.maxAttempts > 1 ? stage.maxAttempts : ownAttempts;
}

/**
 * How long to wait before the next attempt: up to a quarter longer than written, so that stages which failed together do
 * not come back together. The quarter follows from the key, so that a repeated step decides the same.
 */
export function backoffMs(backoff: Backoff, attempt: number, key: string): number {
  if (backoff.kind === "none") return 0;
  const doublings = backoff.kind === "exponential" ? Math.min(attempt - 1, 30) : 0;
  const jitter = 1 + Number.parseInt(hashText(key).slice(0, 8), 16) / 2 ** 34;
  return Math.min(Math.round(backoff.delayMs * 2 ** doublings * jitter), backoff.maxDelayMs);
}
