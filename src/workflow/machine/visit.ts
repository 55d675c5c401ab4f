import { clip } from "../../core/clip.js";
import type { Text } from "../../core/finding.js";
import type { Usage } from "../../core/issue/events.js";
import type { Stage, StageOutcome } from "../graph.js";
import { countSame, digestOf, stopSameFailure } from "./breaker.js";
import { resolveChildFindings, takeChildFindings } from "./child-findings.js";
import type { ChildFinding } from "./events.js";
import { type FailedVisit, raiseFinding, resolveFindings } from "./findings.js";
import { isReview, raisesFindings } from "./graph-index.js";
import { attemptsFor, backoffMs } from "./retry.js";
import type { StageRecord, Token } from "./state.js";
import { type Step, usedOnly } from "./step.js";

/** How an execution came out, before retries are thought of. */
export interface Verdict {
  readonly outcome: Exclude<StageOutcome, "skipped">;
  readonly reason: string | null;
  readonly label: string | null;
  readonly next: readonly string[];
  /** What it said, or why it broke: the text of a finding. */
  readonly body: Text;
  /** It gave no answer of its own: a broken performer, a review without a verdict. */
  readonly machinery: boolean;
  readonly commit: string | null;
  /** What the failure is compared by with earlier ones; absent: the reason, or where there is none what it said. */
  readonly digest?: string;
  /** What a called workflow leaves open; absent: not known. */
  readonly findings?: readonly ChildFinding[];
}

export function verdict(outcome: Verdict["outcome"], reason: string | null = null): Verdict {
  return { outcome, reason, label: null, next: [], body: { text: reason ?? "" }, machinery: false, commit: null };
}
/** `said`: what came before it broke. A long text is in a file of its own; the error is the reason in any case. */
export function machineryFailure(reason: string, said: Text = { text: "" }): Verdict {
  const failure = { ...verdict("fail", reason), machinery: true };
  if (said.text.trim() === "") return failure;
  return { ...failure, body: said.ref ? said : { text: `${reason}\n\n${said.text}` } };
}

/** An execution has ended: it is tried again, or the visit ends with it. Retries leave nothing behind. */
export function endExecution(step: Step, token: Token, stage: Stage, found: Verdict) {
  const why = found.machinery ? "machinery" : found.outcome === "retry" ? "retry" : "fail";
  const failed = found.outcome === "fail" || found.outcome === "retry";
  // One whose time is up is not tried again.
  if (failed && !token.expired && token.attempt < attemptsFor(stage, why)) return tryAgain(step, token, stage, found);
  const isRetried = stage.retriesFail && stage.maxAttempts > 1 && !token.expired;
  const isExhausted = found.outcome === "retry" || (found.outcome === "fail" && !found.machinery && isRetried);
  endVisit(step, token, stage, isExhausted ? exhausted(stage, found) : found);
}

/** Retries are used up. What broke down has given nothing that could be accepted in part. */
function exhausted(stage: Stage, found: Verdict): Verdict {
  if (stage.allowPartial) return { ...found, outcome: "partial_success" };
  if (found.outcome === "fail") return found;
  const told = found.reason === null ? "" : `: ${found.reason}`;
  return { ...found, outcome: "fail", reason: `asked for another try until none was left${told}` };
}

function tryAgain(step: Step, token: Token, stage: Stage, found: Verdict): void {
  const key = `stage:${stage.id}:v${token.visit}:a${token.attempt}`;
  const delay = backoffMs(stage.backoff, token.attempt, key);
  const { broken: _, ...rest } = token;
  const used = usedOnly(token.run);
  const run = used && isReview(stage) && hasSaid(found) ? { ...used, said: found.body } : used;
  const next = { ...rest, attempt: token.attempt + 1, run };
  if (delay === 0) {
    step.setToken({ ...next, phase: "ready" });
    return;
  }
  const until = step.at + delay;
  step.setToken({ ...next, phase: "backing-off" });
  step.oweTimer("backoff", token.id, until);
  step.report({ type: "waiting", for: `trying ${stage.id} again: ${clip(found.reason ?? "it failed", 300)}`, until });
}

function hasSaid({ machinery, body, reason }: Verdict): boolean {
  return !machinery || body.text !== reason;
}

/** What was said in this visit, never in another one. */
function bodyOf({ run }: Token, found: Verdict): Text {
  return hasSaid(found) ? found.body : machineryFailure(found.reason ?? "", run?.said).body;
}

/** The visit is over. Which way leads on is decided afterwards: a `leaving` token has nothing left to do here. */
export function endVisit(step: Step, token: Token, stage: Stage, found: Verdict): void {
  const { label, next, commit } = found;
  const outcome = found.outcome === "retry" ? "fail" : found.outcome;
  const failed = outcome === "fail" || outcome === "partial_success";
  const reason = failed ? found.reason || "no reason was given" : null;
  const alike = found.digest ?? (found.reason || found.body.text);
  record(step, token, { outcome, reason, digest: outcome === "fail" ? digestOf(alike) : null });
  if (raisesFindings(stage)) {
    const source: FailedVisit["source"] = found.machinery ? "protocol" : stage.kind === "tool" ? "command" : "review";
    if (!step.state.rounds.judged) step.set({ rounds: { ...step.state.rounds, judged: true } });
    if (outcome === "success") resolveFindings(step, stage.id, commit);
    else raiseFinding(step, token, { outcome, reason: reason ?? "", body: bodyOf(token, found), source, commit });
  }
  if (stage.kind === "workflow") {
    if (!step.state.rounds.judged) step.set({ rounds: { ...step.state.rounds, judged: true } });
    if (outcome === "success") resolveChildFindings(step, stage.id, found.findings ?? []);
    else if (found.findings) takeChildFindings(step, token, found.findings);
  }
  const last = { stage: stage.id, outcome, label, next };
  const now = step.token(token.id) ?? token;
  const isPassedBy = isTransparent(stage) && !failed;
  step.setToken({ ...now, phase: "leaving", run: null, last: isPassedBy ? now.last : last });
  if (outcome === "fail") stopSameFailure(step, stage.id);
}

/** Stages that only lead on: conditions behind them are about what was before. One that failed leads nowhere. */
function isTransparent({ kind }: Stage): boolean {
  return kind === "decision" || kind === "parallel";
}

function record(
  step: Step,
  { stage, visit, run, attempt, order }: Token,
  ended: { readonly outcome: StageOutcome; readonly reason: string | null; readonly digest: string | null },
): void {
  const { outcome, reason } = ended;
  const known = step.record(stage);
  const same = countSame(known, ended.digest);
  const next: StageRecord = {
    outcome,
    visits: known.visits,
    ...(known.askedAgain === undefined ? {} : { askedAgain: known.askedAgain }),
    ...(reason === null ? {} : { reason: clip(reason, 300) }),
    ...(same === undefined ? {} : { same }),
    ...(known.answer === undefined ? {} : { answer: known.answer }),
    order: order.slice(1).join("."),
  };
  step.setRecord(stage, next);
  step.report({
    type: "stage-ended",
    stage,
    visit,
    outcome,
    attempts: attempt,
    seconds: run?.seconds ?? 0,
    usage: run?.usage ?? null,
    reason: reason === null ? null : clip(reason, 1000),
  });
}

export function addUsage(known: Usage | null | undefined, more: Usage | null): Usage | null {
  if (!more) return known ?? null;
  if (!known) return more;
  const cost = known.cost_usd === null && more.cost_usd === null ? null : (known.cost_usd ?? 0) + (more.cost_usd ?? 0);
  return {
    input_tokens: known.input_tokens + more.input_tokens,
    output_tokens: known.output_tokens + more.output_tokens,
    cost_usd: cost,
  };
}
