import { join } from "node:path";
import { inlineTextBytes, type Remark } from "../core/finding.js";
import type { ReviewOutcome } from "../core/issue/events.js";
import { singleLine } from "../core/ledger/render-words.js";
import type { Reviewer, TurnFiles, TurnReading } from "../core/ports/agent.js";
import { outcomeOfExit, parseTurnResult, turnResultKeys } from "../core/ports/turn-protocol.js";
import { readBeginning, readTail } from "../lib/follow-file.js";
import { JsonNesting } from "../lib/json-nesting.js";
import { keepText } from "../lib/long-text.js";
import { readForeignJson, readLastWords, readWritten, Unreadable } from "../lib/program-files.js";
import { type RawFinding, shortTitle } from "./raw-finding.js";
import {
  isAnswer,
  readVerdict,
  type Said,
  toVerdict,
  type VerdictReading,
  verdictBytes,
  verdictKeys,
} from "./verdict.js";

/** What a reviewer that speaks the plain protocol left behind: its message is what it printed. */
export async function readReview(files: TurnFiles, exitCode: number | null): ReturnType<Reviewer["read"]> {
  const { sessionId, usage } = parseTurnResult(await readForeignJson(files.result, turnResultKeys));
  const outcome = outcomeOfExit(exitCode, exitCode === 0 ? "" : await readLastWords(files.stderr));
  return judge(files, { outcome, sessionId, usage }, () => endOf(files.stdout));
}

/** What it began with is only looked through, for what is still open at the end: 100 MB cost no memory. */
async function endOf(path: string): Promise<Said> {
  const { text, from } = await readTail(path, verdictBytes);
  if (from === 0) return { text, before: null };
  const before = new JsonNesting();
  // Half a character is nothing that JSON is made of.
  for await (const chunk of readBeginning(path, from)) before.add(chunk.toString("latin1"));
  return { text, before };
}

/** The verdict of a turn that was read already: from the result file, else from the end of its last message. */
export async function judge(
  files: TurnFiles,
  reading: TurnReading,
  message: () => Promise<Said>,
): ReturnType<Reviewer["read"]> {
  const { outcome } = reading;
  if (outcome.type === "failed") return { ...reading, review: { type: "protocol", reason: outcome.reason } };
  if (outcome.type !== "ended") return { ...reading, review: null };
  const written = await readWritten(files.result, verdictKeys);
  if (written instanceof Unreadable) {
    return { ...reading, review: { type: "protocol", reason: `the result file ${written.why}` } };
  }
  const { fields } = parseTurnResult(written);
  if (written !== null && fields === null) {
    return { ...reading, review: { type: "protocol", reason: "the result file is no JSON object" } };
  }
  const said = fields !== null && isAnswer(fields) ? toVerdict(fields) : readVerdict(await message());
  return { ...reading, review: await toReview(said, files.folder) };
}

async function toReview(said: VerdictReading, folder: string): Promise<ReviewOutcome> {
  if (said.type === "protocol") return said;
  const findings: Remark[] = [];
  for (const [index, finding] of said.findings.entries()) {
    findings.push(await toRemark(finding, join(folder, `finding-${index + 1}.md`)));
  }
  return { type: "verdict", verdict: said.verdict, findings };
}

async function toRemark({ reviewer, newEvidence, ...finding }: RawFinding, path: string): Promise<Remark> {
  const [whole, title] = [singleLine(finding.title), shortTitle(finding.title)];
  const told = title === whole ? finding.body : `${whole}\n\n${finding.body}`;
  const body = newEvidence === null ? told : `${told}\n\nNew evidence: ${newEvidence}`;
  return {
    ...finding,
    title,
    body: await keepText(body, path, inlineTextBytes),
    ...(reviewer === null ? {} : { reviewer }),
    ...(newEvidence === null ? {} : { newEvidence: true as const }),
  };
}
