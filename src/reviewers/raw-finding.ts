import type { Priority } from "../core/finding.js";
import { plainPath } from "../core/ledger/identity.js";
import { singleLine } from "../core/ledger/render-words.js";

/** A finding as its reviewer gave it: read tolerantly, all but the priority, and nothing that it says is lost. */
export interface RawFinding {
  readonly file: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly priority: Priority;
  readonly title: string;
  readonly body: string;
  readonly reviewer: string | null;
  /** What is known now that was not when the finding was settled; null: nothing. */
  readonly newEvidence: string | null;
}

/** What a finding is read from. `severity` is no key of ours, but read for what blocks. */
export const findingKeys = [
  ...["file", "line_start", "line_end", "priority", "title", "body", "reviewer", "new_evidence"],
  "severity",
];

/** Where a finding has no body, that is what it says elsewhere, the longest first. */
export function withBody(written: Fields): Fields {
  const members = Object.entries(written).map(([key, value]) => ({ key, name: key.toLowerCase(), value }));
  if (members.some(({ name, value }) => name === "body" && toText(value) !== null)) return written;
  const ours = members.filter(({ name }) => name !== "body" && findingKeys.includes(name));
  const texts = textsIn(members.filter((member) => !ours.includes(member)).map(({ value }) => value));
  const body = texts.sort((one, other) => other.length - one.length).join("\n\n");
  return { ...Object.fromEntries(ours.map(({ key, value }) => [key, value])), body };
}

/** However deep. */
function textsIn(values: readonly unknown[]): string[] {
  const left = [...values];
  for (const value of left) {
    if (typeof value === "object" && value !== null) for (const inside of Object.values(value)) left.push(inside);
  }
  return left.flatMap((value) => toText(value) ?? []);
}

export function toFinding(fields: Fields, priority: Priority): RawFinding {
  const lineStart = toLine(fields.line_start) ?? 0;
  const body = typeof fields.body === "string" ? fields.body : "";
  return {
    file: plainPath(toText(fields.file) ?? "unknown"),
    line_start: lineStart,
    line_end: Math.max(lineStart, toLine(fields.line_end) ?? lineStart),
    priority,
    // What has no title is known by all that it says: two are not the same for having none.
    title: toText(fields.title) ?? toText(shortTitle(body)) ?? "Unknown issue",
    body,
    reviewer: toText(fields.reviewer),
    newEvidence: toText(fields.new_evidence),
  };
}

/** One line of at most 300 characters. */
export function shortTitle(text: string): string {
  const line = singleLine(text);
  return line.length <= longestTitle ? line : `${line.slice(0, longestTitle - 1)}…`;
}
const longestTitle = 300;

function toText(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

function toLine(value: unknown): number | null {
  const line = typeof value === "string" && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : value;
  return typeof line === "number" && Number.isSafeInteger(line) && line >= 0 ? line : null;
}

type Fields = Readonly<Record<string, unknown>>;
