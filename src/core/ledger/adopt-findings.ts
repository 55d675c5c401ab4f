import type { Finding, Ledger } from "../finding.js";

/** Findings that another machine has written down for the same issue: as they are now, at their place or at the end. */
export function adoptFindings(ledger: Ledger, findings: readonly Finding[]): Ledger {
  const changed = new Map(findings.map((finding) => [finding.id, finding]));
  const kept = ledger.findings.map((finding) => changed.get(finding.id) ?? finding);
  const known = new Set(ledger.findings.map(({ id }) => id));
  return { ...ledger, findings: [...kept, ...findings.filter(({ id }) => !known.has(id))] };
}
