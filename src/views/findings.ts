import type { Finding, Text } from "../core/finding.js";
import { sayAll } from "../core/ledger/render-words.js";
import { plainLine, plainText } from "../core/plain-text.js";
import { type Column, type Room, renderColumns } from "./columns.js";
import { formatPlace, formatPriority, plural } from "./format.js";

const columns: readonly Column[] = [
  { title: "ID", least: 8, drop: 1 },
  { title: "ISSUE", least: 6 },
  { title: "PRIO" },
  { title: "STATUS", least: 4 },
  { title: "WHERE", least: 10, drop: 2 },
  { title: "BY", least: 6, drop: 3 },
  { title: "TITLE", least: 10 },
];

/** `all`: settled ones were asked for too. */
export function noFindings(all: boolean): string {
  return all ? "No findings." : "No open findings.";
}

/** The table of `findings`; worst first is the caller's order. */
export function renderFindingList(findings: readonly Finding[], room: Room): string[] {
  const rows = findings.map((finding) => [
    finding.id,
    plainLine(finding.issue_id),
    formatPriority(finding.priority),
    finding.status,
    formatPlace(finding),
    plainLine(finding.reviewers.join(", ")),
    plainLine(finding.title),
  ]);
  return [...renderColumns(columns, rows, room), "", plural(findings.length, "finding")];
}

/** One issue's findings with their text. */
export function renderFindingDetails(findings: readonly Finding[], wholeOf: (body: Text) => string): string[] {
  return findings.flatMap((finding, index) => {
    const where = `${formatPlace(finding)} · ${finding.stage}, visit ${finding.visit} · ${finding.reviewers.join(", ")}`;
    const status = finding.reason === null ? finding.status : `${finding.status}: ${finding.reason}`;
    const body = plainText(sayAll(finding, wholeOf)).trimEnd();
    return [
      ...(index > 0 ? [""] : []),
      `${formatPriority(finding.priority)} ${plainLine(finding.title)}`,
      `  ${plainLine(where)}`,
      `  ${plainLine(status)} · ${finding.id}`,
      ...(body === "" ? [] : body.split("\n").map((line) => `    ${line}`)),
    ];
  });
}
