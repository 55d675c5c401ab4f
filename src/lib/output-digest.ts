import { stripVTControlCharacters } from "node:util";
import { readLines, readTail } from "./follow-file.js";
import { lastWord } from "./last-word.js";

/** What people and prompts are shown of a command's output: its ends, and one line that says what failed. */
export interface OutputTails {
  readonly stdout: string;
  readonly stderr: string;
}

const tailLines = 30;
const tailCharacters = 4096;
const digestCharacters = 300;
/** A failing line is looked for in this much of the beginning and, beyond it, of the end. */
const scannedBytes = 4 * 1024 * 1024;

export async function outputTails(stdoutPath: string, stderrPath: string): Promise<OutputTails> {
  return { stdout: await tailOf(stdoutPath), stderr: await tailOf(stderrPath) };
}

/** Both tails as the body of a finding. */
export function renderTails({ stdout, stderr }: OutputTails): string {
  const parts = [stdout === "" ? null : `stdout:\n${stdout}`, stderr === "" ? null : `stderr:\n${stderr}`];
  return parts.filter((part) => part !== null).join("\n\n") || "(no output)";
}

/** What failed: the first failing check a test runner names, else the last word on stderr, else on stdout. */
export async function digestOf(stdoutPath: string, stderrPath: string): Promise<string> {
  const failing = await firstFailingCheck(stdoutPath, stderrPath);
  const line = failing ?? lastWord(await endOf(stderrPath), await endOf(stdoutPath)) ?? "(no output)";
  return cut(line.trim(), digestCharacters);
}

/** The first line by which a test runner or compiler tells what failed; null: there is none. */
export async function firstFailingCheck(stdoutPath: string, stderrPath: string): Promise<string | null> {
  const line = (await firstFailure(stdoutPath)) ?? (await firstFailure(stderrPath));
  return line === null ? null : cut(line.trim(), digestCharacters);
}

async function tailOf(path: string): Promise<string> {
  const { text } = await readTail(path, 64 * 1024);
  const lines = plainText(text).trimEnd().split("\n").slice(-tailLines);
  return lastCharacters(lines.join("\n"), tailCharacters);
}

/** Without colours, cursor moves and other control characters; of a line that was overwritten, what was to be seen last. */
export function plainText(text: string): string {
  const lines = stripVTControlCharacters(text).split("\n").map(lastOverwritten);
  return lines.join("\n").replace(/[^\P{Cc}\n\t]/gu, "");
}

function lastOverwritten(line: string): string {
  const shown = line.replace(/\r{1,8}$/, "");
  return shown.slice(shown.lastIndexOf("\r") + 1);
}

function lastCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.length - limit;
  const code = text.charCodeAt(start);
  // The second half of a surrogate pair is no character of its own.
  return text.slice(code >= 0xdc00 && code <= 0xdfff ? start + 1 : start);
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

const failures = [
  /^\s*not ok \d+\b(?!.*# (?:TODO|SKIP))/,
  /^\s*✖ (?!failing tests)\S/,
  /^\s*(?:FAIL|❯ FAIL)\s+\S(?!.*\[(?:build|setup) failed\]$)/,
  /^(?:FAIL|ERROR): \w+ \(/,
  /^FAILED (?!\((?:failures|errors)=)\S+/,
  /^E\s{2,}\S/,
  /^\s*--- FAIL: /,
  /^panic: /,
  /^(?:vet: )?\S+\.go:\d+:\d+: /,
  /^test .{1,200} \.\.\. FAILED$/,
  /^\S.{0,300}\(\d+,\d+\): error TS\d+: /,
  /^\S.{0,300}:\d+:\d+ - error TS\d+: /,
  /^\s*\d+:\d+\s+error\s+\S/,
  /^error(?:\[E\d+\])?: (?!script ".*" exited with code)/,
];

async function firstFailure(path: string): Promise<string | null> {
  let bytes = 0;
  for await (const raw of readLines(path)) {
    const line = plainText(raw.slice(0, 4096));
    if (isFailure(line)) return line;
    bytes += raw.length + 1;
    if (bytes > scannedBytes) break;
  }
  if (bytes <= scannedBytes) return null;
  const { text } = await readTail(path, scannedBytes);
  return (
    text
      .split("\n")
      .map((line) => plainText(line.slice(0, 4096)))
      .find(isFailure) ?? null
  );
}

function isFailure(line: string): boolean {
  return failures.some((pattern) => pattern.test(line));
}

async function endOf(path: string): Promise<string> {
  return plainText((await readTail(path, 64 * 1024)).text);
}
