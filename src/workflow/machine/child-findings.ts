import type { Finding, Ledger } from "../../core/finding.js";
import { newFinding } from "../../core/ledger/entry.js";
import { hashText } from "../../core/ledger/hash.js";
import { resolveFindings } from "../../core/ledger/ledger.js";
import type { ChildFinding } from "./events.js";
import { isOpenUnder, raised } from "./findings.js";
import type { Token } from "./state.js";
import type { Step } from "./step.js";

/**
 * What a called workflow leaves open, on the ledger of the one that calls it: as findings of `<stage>/<its stage>`, each
 * named after the child's own. They follow the child's ledger, which all visits of the stage share: what is open no longer
 * there is resolved here, and what was settled here does not come back.
 */
export function takeChildFindings(step: Step, token: Token, found: readonly ChildFinding[]): void {
  const named = found.map((one) => ({ ...one, id: nameHere(step, token.stage, one), raised_as: raisedAs(one) }));
  const ids = new Set(named.map(({ id }) => id));
  const gone = step.ledger.findings.filter((one) => isOpenUnder(step, one, token.stage) && !ids.has(one.id));
  const closed = { ids: gone.map(({ id }) => id), at: step.at, commit: null };
  if (gone.length > 0) step.applyCopied(resolveFindings(step.ledger, closed));
  const known = new Set(step.ledger.findings.map(({ id }) => id));
  named.forEach((one, place) => {
    if (!known.has(one.id)) raiseOne(step, { token, place }, one);
  });
}

function raiseOne(
  step: Step,
  { token, place }: { readonly token: Token; readonly place: number },
  found: ChildFinding & { readonly raised_as: string },
): void {
  const { raised_as, id, source, outcome, commit, file, line_start, line_end, priority, title, body } = found;
  const stage = `${token.stage}/${found.stage}`;
  const remark = { file, line_start, line_end, priority, title, body };
  const { runId } = step.policy;
  const { visit } = token;
  const seen = { stage, source, reviewer: stage, outcome, visit, at: step.at, commit, runId, remarks: [remark] };
  const made = newFinding({ id, issueId: step.ledger.issueId }, seen, { remark, reviewer: stage });
  const finding: Finding = { ...made, order: [...token.order, place], raised_as };
  step.applyCopied({
    ledger: { ...step.ledger, findings: [...step.ledger.findings, finding] },
    reports: [raised(finding)],
  });
}

/**
 * The called workflow succeeded, with this still open in itself: it has not told that it is settled. That is told under the
 * name that it was raised by.
 */
export function resolveChildFindings(step: Step, stage: string, found: readonly ChildFinding[]): void {
  const untold = new Map(found.map((one) => [nameHere(step, stage, one), one]));
  const ids = step.ledger.findings.filter((one) => isOpenUnder(step, one, stage)).map(({ id }) => id);
  step.applyCopied(resolveFindings(step.ledger, { ids, at: step.at, commit: null }));
  for (const one of ids.flatMap((id) => untold.get(id) ?? []))
    step.report({
      type: "finding-resolved",
      finding: raisedAs(one),
      status: "resolved",
      title: one.title,
      reason: null,
    });
}

/** However many workflows call one another: the innermost has told it, under its own name. */
function raisedAs({ id, raised_as = id }: ChildFinding): string {
  return raised_as;
}

function nameHere({ policy }: Step, stage: string, { id }: ChildFinding): string {
  return copyId(policy.runId, stage, id);
}

/** A called workflow's finding on the ledger of its caller. */
function copyId(runId: string, stage: string, id: string): string {
  return hashText([runId, stage, id].join("\n"));
}

/** What is open in a called workflow and was never taken over: earlier attempts of a visit that is not over raised it. */
export function findStale(
  called: Ledger,
  caller: { readonly ledger: Ledger; readonly runId: string; readonly stage: string },
): string[] {
  const known = new Set(caller.ledger.findings.map(({ id }) => id));
  const open = called.findings.filter(({ status, order }) => status === "open" && order !== undefined);
  return open.flatMap(({ id }) => (known.has(copyId(caller.runId, caller.stage, id)) ? [] : [id]));
}
