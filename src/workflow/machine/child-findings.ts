import type { Finding } from "../../core/finding.js";
import { newFinding } from "../../core/ledger/entry.js";
import { hashText } from "../../core/ledger/hash.js";
import { resolveFindings, resolveStage } from "../../core/ledger/ledger.js";
import type { ChildFinding } from "./events.js";
import { childStages, isOpenUnder, raised } from "./findings.js";
import type { Token } from "./state.js";
import type { Step } from "./step.js";

/**
 * What a called workflow leaves open, on the ledger of the one that calls it: as findings of `<stage>/<its stage>`, each
 * named after the child's own. They follow the child's ledger, which all visits of the stage share: what is open no longer
 * there is resolved here, and what was settled here does not come back.
 */
export function takeChildFindings(step: Step, token: Token, found: readonly ChildFinding[]): void {
  const named = found.map((one) => ({ ...one, id: hashText([step.policy.runId, token.stage, one.id].join("\n")) }));
  const ids = new Set(named.map(({ id }) => id));
  const gone = step.ledger.findings.filter((one) => isOpenUnder(one, token.stage) && !ids.has(one.id));
  const closed = { ids: gone.map(({ id }) => id), at: step.at, commit: null };
  if (gone.length > 0) step.apply(resolveFindings(step.ledger, closed));
  const known = new Set(step.ledger.findings.map(({ id }) => id));
  named.forEach((one, place) => {
    if (!known.has(one.id)) raiseOne(step, { token, place }, one);
  });
}

function raiseOne(
  step: Step,
  { token, place }: { readonly token: Token; readonly place: number },
  found: ChildFinding,
): void {
  const { id, source, outcome, commit, file, line_start, line_end, priority, title, body } = found;
  const stage = `${token.stage}/${found.stage}`;
  const remark = { file, line_start, line_end, priority, title, body };
  const { runId } = step.policy;
  const { visit } = token;
  const seen = { stage, source, reviewer: stage, outcome, visit, at: step.at, commit, runId, remarks: [remark] };
  const made = newFinding({ id, issueId: step.ledger.issueId }, seen, { remark, reviewer: stage });
  const finding: Finding = { ...made, order: [...token.order, place] };
  step.apply({
    ledger: { ...step.ledger, findings: [...step.ledger.findings, finding] },
    reports: [raised(finding)],
  });
}

/** The called workflow succeeded. */
export function resolveChildFindings(step: Step, stage: string): void {
  for (const name of childStages(step, stage)) {
    step.apply(resolveStage(step.ledger, { stage: name, at: step.at, commit: null }));
  }
}
