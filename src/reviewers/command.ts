import { createHash } from "node:crypto";
import { join } from "node:path";
import { inlineTextBytes, type Remark, type Text } from "../core/finding.js";
import type { ReviewOutcome } from "../core/issue/events.js";
import type { Reviewer, TurnFiles } from "../core/ports/agent.js";
import { outcomeOfExit, parseTurnResult, turnEnvironment } from "../core/ports/turn-protocol.js";
import { writeDurably } from "../lib/files.js";
import { readTail } from "../lib/follow-file.js";
import { missingProgram, readForeignJson, readLastWords } from "../lib/program-files.js";
import { type RawFinding, readVerdict, toVerdict, type VerdictReading, verdictBytes } from "./verdict.js";

/** Any program as a reviewer: the plain protocol, and a verdict in the result file or as the last JSON object on stdout. */
export function commandReviewer({
  name,
  command,
}: {
  readonly name: string;
  readonly command: readonly string[];
}): Reviewer {
  const [program = "", ...rest] = command;
  return {
    kind: "command",
    check: async (dir) => missingProgram(command[0], `the command of reviewer ${name}`, dir),
    command: (turn) => ({ argv: [program, ...rest], env: turnEnvironment(turn), stopSignal: "SIGTERM" }),
    read: readReview,
  };
}

async function readReview(files: TurnFiles, exitCode: number | null): ReturnType<Reviewer["read"]> {
  const { sessionId, usage, fields } = parseTurnResult(await readForeignJson(files.result));
  const outcome = outcomeOfExit(exitCode, exitCode === 0 ? "" : await readLastWords(files.stderr));
  const reading = { outcome, sessionId, usage };
  if (outcome.type === "failed") return { ...reading, review: { type: "protocol", reason: outcome.reason } };
  if (outcome.type !== "ended") return { ...reading, review: null };
  const said = fields !== null && "verdict" in fields ? toVerdict(fields) : readVerdict(await endOf(files.stdout));
  return { ...reading, review: await toReview(said, files.folder) };
}

async function endOf(path: string): Promise<string> {
  return (await readTail(path, verdictBytes)).text;
}

async function toReview(said: VerdictReading, folder: string): Promise<ReviewOutcome> {
  if (said.type === "protocol") return said;
  const findings: Remark[] = [];
  for (const [index, finding] of said.findings.entries()) {
    findings.push(await toRemark(finding, join(folder, `finding-${index + 1}.md`)));
  }
  return { type: "verdict", verdict: said.verdict, findings };
}

async function toRemark({ reviewer, ...finding }: RawFinding, path: string): Promise<Remark> {
  const title = finding.title.replace(/\s+/g, " ");
  const short = title.length <= longestTitle;
  const body = short ? finding.body : `${title}\n\n${finding.body}`;
  return {
    ...finding,
    title: short ? title : `${title.slice(0, longestTitle - 1)}…`,
    body: await toText(body, path),
    ...(reviewer === null ? {} : { reviewer }),
  };
}
const longestTitle = 300;
const headBytes = 2048;

/** Long texts are on the disk before anyone refers to them. */
async function toText(text: string, path: string): Promise<Text> {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= inlineTextBytes) return { text };
  await writeDurably(path, bytes);
  // A cut character at the end decodes to a replacement, which is taken off.
  const head = bytes
    .subarray(0, headBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  return { text: head, ref: { path, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") } };
}
