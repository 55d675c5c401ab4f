import { join } from "node:path";
import { inlineTextBytes, type Remark } from "../../core/finding.js";
import type { ReviewOutcome, TurnOutcome } from "../../core/issue/events.js";
import type { Said } from "../../core/issue/marker.js";
import type { TurnReading } from "../../core/ports/agent.js";
import { keepText, readKept } from "../../lib/long-text.js";

/**
 * What a program said of its turn, without secrets: from here it goes into events, findings and records, which are handed on.
 * The files that the program wrote itself stay as they are.
 */
type Redact = (text: string) => string;

export async function redactReading<T extends TurnReading & { readonly review?: ReviewOutcome | null }>(
  reading: T,
  { redact, folder }: { readonly redact: Redact; readonly folder: string },
): Promise<T> {
  const outcome = redactOutcome(reading.outcome, redact);
  if (!reading.review) return { ...reading, outcome };
  return { ...reading, outcome, review: await redactReview(reading.review, redact, folder) };
}

export function redactSaid({ marker, rejected }: Said, redact: Redact): Said {
  return {
    marker: marker && { ...marker, rationale: redact(marker.rationale) },
    rejected: rejected.map((one) => ({ ...one, reason: redact(one.reason) })),
  };
}

function redactOutcome(outcome: TurnOutcome, redact: Redact): TurnOutcome {
  return "reason" in outcome ? { ...outcome, reason: redact(outcome.reason) } : outcome;
}

async function redactReview(review: ReviewOutcome, redact: Redact, folder: string): Promise<ReviewOutcome> {
  if (review.type === "protocol") return { ...review, reason: redact(review.reason) };
  const findings: Remark[] = [];
  for (const [index, { file, title, body, reviewer, ...rest }] of review.findings.entries()) {
    const said = await readKept(body);
    const safe = redact(said);
    const path = body.ref?.path ?? join(folder, `finding-${index + 1}.md`);
    const kept = safe === said ? body : await keepText(safe, path, inlineTextBytes);
    const who = reviewer === undefined ? {} : { reviewer: redact(reviewer) };
    findings.push({ ...rest, ...who, file: redact(file), title: redact(title), body: kept });
  }
  return { ...review, findings };
}
