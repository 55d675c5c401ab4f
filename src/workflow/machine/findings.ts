import { clip } from "../../core/clip.js";
import type { Finding, FindingSource, Text } from "../../core/finding.js";
import { newFinding } from "../../core/ledger/entry.js";
import { hashText } from "../../core/ledger/hash.js";
import { resolveStage, supersedeFindings, supersedeStage } from "../../core/ledger/ledger.js";
import type { StageCommandEnded } from "./events.js";
import { raisesFindings } from "./graph-index.js";
import { begunStages, type Token } from "./state.js";
import type { Step } from "./step.js";

/**
 * What reviews and tools find, on the ledger. A stage's failing visit is one finding of its own, named after the visit and
 * never matched with others: two reviews that fail alike are two, and a stage that fails again keeps its older ones open
 * until it succeeds. So nothing of the ledger's matching by words is used here, and nothing is superseded.
 */
export interface FailedVisit {
  readonly outcome: "fail" | "partial_success";
  readonly reason: string;
  readonly body: Text;
  readonly source: Extract<FindingSource, "review" | "command" | "protocol">;
  readonly commit: string | null;
}

export function raiseFinding(step: Step, token: Token, failed: FailedVisit): void {
  const { runId, machine } = step.policy;
  const { stage, visit } = token;
  const id = hashText([runId, machine, stage, visit].join("\n"));
  const title = clip(failed.reason, 1000);
  const remark = { file: "", line_start: 0, line_end: 0, priority: null, title, body: failed.body };
  const { outcome, source, commit } = failed;
  const seen = { stage, source, reviewer: stage, outcome, visit, at: step.at, commit, runId, remarks: [remark] };
  const named = { id, issueId: step.ledger.issueId };
  const finding: Finding = { ...newFinding(named, seen, { remark, reviewer: stage }), order: token.order };
  step.apply({
    ledger: { ...step.ledger, findings: [...step.ledger.findings, finding] },
    reports: [raised(finding)],
  });
}

/** The stage succeeded: all that it ever found is settled. */
export function resolveFindings(step: Step, stage: string, commit: string | null): void {
  if (!step.ledger.findings.some((finding) => isOpenOf(finding, stage))) return;
  step.apply(resolveStage(step.ledger, { stage, at: step.at, commit }));
}

/** A new start: what the stages found before is of no concern any more. */
export function dropFindings(step: Step): void {
  const stages = begunStages(step.state).flatMap((id) => {
    const stage = step.stage(id);
    if (stage?.kind === "workflow") return childStages(step, id);
    return stage !== null && raisesFindings(stage) ? [id] : [];
  });
  step.applyWithNames(supersedeStage(step.ledger, { stages, reason: "the workflow started anew", at: step.at }));
}

/** Attempts that another one follows leave nothing behind. */
export function dropStale(step: Step): void {
  const { stale: ids, ...state } = step.state;
  if (ids === undefined) return;
  step.state = state;
  step.applyWithNames(supersedeFindings(step.ledger, { ids, reason: "the workflow was tried again", at: step.at }));
}

function isOpenOf({ status, stage, stages }: Finding, name: string): boolean {
  return status === "open" && (stage === name || (stages ?? []).some((report) => report.stage === name));
}

/** The names that findings are open under, of what a stage calls. */
function childStages(step: Step, stage: string): string[] {
  return [...new Set(step.ledger.findings.filter((one) => isOpenUnder(step, one, stage)).map((one) => one.stage))];
}

/** Of what a stage calls; a stage of this workflow may be called so itself. */
export function isOpenUnder(step: Step, finding: Finding, stage: string): boolean {
  const isCalled = finding.stage.startsWith(`${stage}/`) && step.stage(finding.stage) === null;
  return finding.status === "open" && finding.order !== undefined && isCalled;
}

export function raised(finding: Finding) {
  const { id, source, stage, reviewer, file, line_start, line_end, priority, title } = finding;
  const place = { file, line_start, line_end, priority };
  return { type: "finding-raised" as const, finding: id, source, stage, reviewer, ...place, title, reopened: false };
}

/** What a fixing agent needs of a failed command. */
export function toolFinding({ failure, exitCode, seconds, digest, tails }: StageCommandEnded): {
  readonly reason: string;
  readonly body: Text;
} {
  if (failure === null) return { reason: digest, body: { text: tails } };
  const ended = {
    exit: `exit code ${exitCode ?? "unknown"}`,
    timeout: "ran out of time",
    signal: "ended by a signal",
    "not-found": `not found (exit code ${exitCode ?? "unknown"})`,
  }[failure.class];
  const lines = [
    `${failure.digest}`,
    `${ended} after ${seconds.toFixed(1)} s`,
    ...(failure.firstFailingCheck === null ? [] : [`first failing check: ${failure.firstFailingCheck}`]),
    `run again: ${failure.rerunCommand}`,
    ...tail("stdout", failure.stdoutTail),
    ...tail("stderr", failure.stderrTail),
  ];
  return { reason: failure.digest, body: { text: lines.join("\n") } };
}

function tail(name: string, text: string): string[] {
  return text.trim() === "" ? [] : ["", `${name} (end):`, text.trimEnd()];
}
