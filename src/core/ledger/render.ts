import type { Finding, Text } from "../finding.js";
import { historyOf } from "./render-history.js";
import { fileName, placeOf, priorityName, rangesOf, roundWord, sayAll, singleLine } from "./render-words.js";
import { severity } from "./reports.js";
import { byteLength, headOf } from "./text-bytes.js";

/**
 * Findings as an agent reads them. Every open one is there once; what does not fit the budget is one line that says so,
 * and its full text goes into `rest`, which the caller writes to `restPath`. Nothing is cut without a word.
 */
export interface RenderOptions {
  readonly budgetBytes: number;
  readonly restPath: string;
  /** by-file: the file with the worst finding first. by-stage: stages in the order given. */
  readonly order: "by-file" | "by-stage";
  /** The whole body, where the finding holds only a head of it. */
  readonly wholeOf?: (body: Text) => string;
}
export interface RenderedFindings {
  readonly text: string;
  /** What `restPath` must hold; null: everything is in `text`. */
  readonly rest: string | null;
}

interface Entry {
  readonly finding: Finding;
  readonly number: number;
  readonly line: string;
  readonly full: string;
}

/** A cut text shorter than this tells nothing. */
const leastHeadBytes = 400;

/** `findings`: the open ones to list, and closed ones, of which those superseded in a listed stage are told as history. */
export function renderFindings(findings: readonly Finding[], options: RenderOptions): RenderedFindings {
  const open = findings.filter((finding) => finding.status === "open");
  const groups = groupFindings(open, options.order);
  let number = 0;
  const entries = groups.flatMap((group) =>
    group.findings.map((finding): Entry => {
      number += 1;
      return { finding, number, line: oneLine(finding, number), full: fullText(finding, number, options) };
    }),
  );
  const openBytes = entries.reduce((sum, entry) => sum + byteLength(entry.full), 0);
  const history = historyOf(findings, open, { ...options, openBytes });
  const { shown, rest } = spend(entries, options, byteLength(history.text));
  const parts = groups.map((group) => renderGroup(group, entries, shown));
  const left = entries.filter((entry) => !shown.has(entry.finding.id));
  if (left.length > 0) parts.push(leftOver(left, options.restPath));
  const further = [...rest.map((entry) => entry.full), ...(history.rest === null ? [] : [history.rest])];
  return {
    text: [...parts, history.text].filter((part) => part !== "").join("\n\n"),
    rest: further.length > 0 ? `${further.join("\n\n")}\n` : null,
  };
}

/** Spends the budget on the worst first. Big ones wait until the small ones have their place, then get what is left. */
function spend(entries: readonly Entry[], options: RenderOptions, used: number) {
  const shown = new Map<string, string>();
  const rest: Entry[] = [];
  let left = options.budgetBytes - used - entries.reduce((sum, entry) => sum + byteLength(entry.line) + 1, 0);
  const worstFirst = [...entries].sort(
    (a, b) => severity(a.finding.priority) - severity(b.finding.priority) || a.number - b.number,
  );
  for (const entry of worstFirst) {
    const extra = byteLength(entry.full) - byteLength(entry.line);
    if (extra > left) {
      rest.push(entry);
      continue;
    }
    shown.set(entry.finding.id, entry.full);
    left -= extra;
  }
  for (const entry of rest) {
    if (left < leastHeadBytes) break;
    const head = headOf(entry.full, left);
    const note = `[cut here: ${byteLength(head)} of ${byteLength(entry.full)} bytes; the whole text is in ${options.restPath}]`;
    shown.set(entry.finding.id, `${head}\n${note}`);
    left -= byteLength(head);
  }
  return { shown, rest: rest.sort((a, b) => a.number - b.number) };
}

interface Group {
  readonly name: string;
  readonly findings: readonly Finding[];
}
function groupFindings(open: readonly Finding[], order: RenderOptions["order"]): Group[] {
  const byName = new Map<string, Finding[]>();
  for (const finding of open) {
    const name = order === "by-stage" ? finding.stage : fileName(finding);
    byName.set(name, [...(byName.get(name) ?? []), finding]);
  }
  const groups = [...byName].map(([name, findings]) => ({ name, findings: findings.sort(byWorst) }));
  return order === "by-stage" ? groups : groups.sort((a, b) => worst(a) - worst(b));
}

function byWorst(a: Finding, b: Finding): number {
  return severity(a.priority) - severity(b.priority) || a.line_start - b.line_start;
}

function worst(group: Group): number {
  return Math.min(...group.findings.map((finding) => severity(finding.priority)));
}

function renderGroup(group: Group, entries: readonly Entry[], shown: ReadonlyMap<string, string>): string {
  const texts = entries.flatMap((entry) => {
    const text = group.findings.includes(entry.finding) ? shown.get(entry.finding.id) : undefined;
    return text === undefined ? [] : [text];
  });
  return texts.length === 0 ? "" : [`### ${group.name}`, ...texts].join("\n\n");
}

function leftOver(entries: readonly Entry[], restPath: string): string {
  const count = entries.length === 1 ? "1 more finding" : `${entries.length} more findings`;
  const head = `### ${count}, to be addressed like those above; their full text is in ${restPath}`;
  return [head, "", ...entries.map((entry) => entry.line)].join("\n");
}

function fullText(finding: Finding, number: number, options: RenderOptions): string {
  const said = finding.rejected ? `\n\nThe implementer rejects it: ${singleLine(finding.rejected)}` : "";
  const head = `#### ${number}. ${priorityName(finding)} ${singleLine(finding.title)}\n${about(finding)}${said}`;
  const text = sayAll(finding, options.wholeOf ?? storedBody);
  return text === "" ? head : `${head}\n\n${text}`;
}

function storedBody({ text, ref }: Text): string {
  return ref ? `${text}\n[the beginning of ${ref.bytes} bytes; the whole text is in ${ref.path}]` : text;
}

function oneLine(finding: Finding, number: number): string {
  return `- ${number}. ${priorityName(finding)} ${singleLine(finding.title)} (${about(finding)})`;
}

function about(finding: Finding): string {
  const before = (finding.earlier ?? []).map((visit) => visit.visit);
  return [
    placeOf(finding),
    `${roundWord(finding)} ${finding.visit}`,
    ...(before.length > 0 ? [`reported before in ${rangesOf(before)}`] : []),
    `by ${finding.reviewers.map(singleLine).join(", ")}`,
    `id ${finding.id}`,
  ].join(" · ");
}
