/**
 * Which of the last lines of a program that failed says why. What every failure of its kind ends with (the version of
 * Node.js, where npm keeps its log, the frames of a stack trace) would make two defects look like one: it is passed over
 * as long as something better stands before it.
 */

/** Of the first text that has one, and of several that only end as usual the first. No control characters, please. */
export function lastWord(...texts: readonly string[]): string | null {
  const parts = texts.map((text) => text.split("\n").map((line) => line.slice(0, 4096).trimEnd()));
  const words = parts.map((lines) => ofNpmOrProgram(lines));
  const ends = parts.map((lines) => lines.findLast((line) => line !== "") ?? null);
  return [...words, ...ends].find((word) => word !== null)?.trim() ?? null;
}

const sayNothing = [
  /^\s*$/,
  /^Node\.js v\d/,
  /^\(Use `node --trace-/,
  /^npm (?:warn|WARN|notice)\b/,
  /^make(?:\[\d+\])?: (?:\*\*\* \[.*\] Error \d+|(?:Entering|Leaving) directory)/,
  /^(?:error|\s*ELIFECYCLE\s) ?Command failed with exit code \d+\.$/,
  /^info Visit https:\/\/yarnpkg\.com/,
  /^error: script ".*" exited with code \d+$/,
  /^exit status \d+$/,
  /^note: run with `RUST_BACKTRACE=/,
];
const frames = [/^\s+at \S/, /^\s*\.\.\. \d+ (?:more|lines matching)/, /^Emitted '.*' event .*at:$/];
const npmPrefix = /^npm (?:error|ERR!)(?: |$)/;
const npmFacts =
  /^(?:code|errno|syscall|path|dest|command|workspace|location|signal|A complete log of this run)\b|^enoent$|^404$/;
const errorHead = /^\s*(?:Uncaught )?[A-Za-z_$][\w$.]*(?:Error|Exception)\b/;
const caret = /^\s*\^+$/;
/** How far above its stack the first line of an error's message is looked for. */
const longestMessage = 60;

function withoutEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => !isSilent(line)) + 1);
}

function isSilent(line: string): boolean {
  return sayNothing.some((pattern) => pattern.test(line));
}

/** What npm says comes after what the program said that it ran. */
function ofNpmOrProgram(lines: readonly string[]): string | null {
  const other = lines.findLastIndex((line) => !npmPrefix.test(line) && !isSilent(line));
  const start = lines.findIndex((line, index) => index > other && npmPrefix.test(line));
  if (start < 0) return ofProgram(lines);
  return ofNpm(lines.slice(start).map((line) => line.replace(npmPrefix, ""))) ?? ofProgram(lines.slice(0, start));
}

/** Its own reason comes first, and its usage or a stack after it; a package's script that failed has the last word. */
function ofNpm(lines: readonly string[]): string | null {
  if (lines.some((line) => line.startsWith("Lifecycle script "))) return null;
  const said = lines.filter((line) => !npmFacts.test(line));
  return lines.includes("command failed") ? ofProgram(said) : (said.find((line) => !isSilent(line)) ?? null);
}

function ofProgram(lines: readonly string[]): string | null {
  const end = withoutEnd(lines);
  const hasCrashed = lines.slice(end.length).some((line) => line.startsWith("Node.js v"));
  const shown = hasCrashed ? end.findLastIndex((line) => caret.test(line)) : -1;
  if (shown >= 0) return complete(end, indexOfWord(end, shown + 1));
  const said = withoutStack(end);
  const { length } = said;
  if (length === end.length) return said.at(-1) ?? null;
  const before = said.findLastIndex((line, index) => isFrame(line) || index < length - longestMessage);
  const head = said.findIndex((line, index) => index > before && errorHead.test(line));
  return complete(said, head < 0 ? length - 1 : head);
}

/** Nor the properties of the error that Node.js shows behind it. */
function withoutStack(lines: readonly string[]): readonly string[] {
  const open = lines.at(-1) === "}" ? lines.findLastIndex((line) => isFrame(line) && line.endsWith(" {")) : -1;
  const end = open < 0 ? lines : lines.slice(0, open);
  return withoutEnd(end.slice(0, end.findLastIndex((line) => !isFrame(line) && line !== "") + 1));
}

function isFrame(line: string): boolean {
  return frames.some((pattern) => pattern.test(line));
}

function indexOfWord(lines: readonly string[], from: number): number {
  return lines.findIndex((line, index) => index >= from && line !== "");
}

/** "Expected values to be strictly equal:" is said of many defects: what is not equal comes next. */
function complete(lines: readonly string[], index: number): string | null {
  const line = lines[index];
  if (!line?.endsWith(":")) return line ?? null;
  const next = lines[indexOfWord(lines, index + 1)];
  return next === undefined || isFrame(next) ? line : `${line} ${next.trim()}`;
}
