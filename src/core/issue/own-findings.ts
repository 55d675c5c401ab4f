import type { Finding, Ledger, StageReport } from "../finding.js";
import { inWordsOf } from "../ledger/words.js";
import type { Settings } from "../settings.js";
import type { TurnEffect } from "./effects.js";
import { isPanel } from "./slots.js";

type Asked = Pick<TurnEffect, "stage" | "slot">;

/** Who a reviewer is from round to round, whatever it calls itself in a finding: of a panel its member, else the section. */
export function authorOf(settings: Settings, { stage, slot }: Asked): string {
  const [section = stage] = stage.split("/");
  return isPanel(settings) ? `${section}/${slot}` : section;
}

/** What this very reviewer has found in the code, in this stage, in its own words. */
export function ownFindings({ findings }: Ledger, settings: Settings, asked: Asked): Finding[] {
  const author = authorOf(settings, asked);
  const own = findings.filter((finding) => finding.source === "review" && isBy(finding, author));
  return own.map((finding) => inWordsOf(finding, (words) => words.author === author || isOf(words, author)));
}

/** Why the last answer of this very reviewer, in this stage, was none; null: it was one, or has not been given. */
export function refusedAnswer({ findings }: Ledger, { stage, slot }: Asked): string | null {
  const isOwn = (one: Finding) => one.source === "protocol" && one.stage === stage && one.reviewer === slot;
  return findings.findLast((one) => one.status === "open" && isOwn(one))?.body.text ?? null;
}

/** Older versions and records of others do not say who: there it goes by where it was found, or by what its reviewer is called. */
function isBy(finding: Finding, author: string): boolean {
  const { authors, stages = [] } = finding;
  if (authors) return authors.includes(author);
  return [finding, ...stages].some((report) => isOf(report, author));
}

function isOf({ stage, reviewer }: Pick<StageReport, "stage" | "reviewer">, author: string): boolean {
  return author === stage || author === `${stage}/${reviewer}`;
}
