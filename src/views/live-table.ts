import { plainLine } from "../core/plain-text.js";
import { type Column, cut, type Paint, type Room, renderColumns } from "./columns.js";
import { countFindings, formatAttempt, formatCost, formatCounts, formatSeconds, plural } from "./format.js";
import { issueColumns } from "./issue-columns.js";
import type { Live, LiveIssue } from "./live.js";

export interface TableOptions extends Room {
  /** The terminal's width. */
  readonly columns: number;
  /** The terminal's height: no more lines than this. */
  readonly rows: number;
  readonly now: number;
  readonly color: boolean;
  /** A last line, such as "draining, press again to stop"; null: none. */
  readonly note: string | null;
}

const columns: readonly Column[] = [...issueColumns, { title: "TITLE", least: 12, drop: 2 }];

/** The lines of the live table: titles, issues, what did not fit, the sum, the note. */
export function renderTable(model: Live, options: TableOptions): string[] {
  const closing = [totals(model, options.now), ...(options.note === null ? [] : [options.note])];
  const room = options.rows - closing.length - 1;
  const rows = model.trigger === null ? model.issues : [...model.issues, model.trigger];
  const { shown, left } = chooseIssues(rows, Math.max(0, room));
  const more = left === 0 ? [] : [`… and ${plural(left, "more issue")}`];
  const table = shown.length === 0 ? [] : renderIssues(shown, options);
  const lines = [...table, ...[...more, ...closing].map((line) => cut(line, options.columns, options.width))];
  return lines.slice(-Math.max(1, options.rows));
}

/** Running ones first, then those that ended last; shown in the order they started. */
function chooseIssues(issues: readonly LiveIssue[], room: number) {
  if (issues.length <= room) return { shown: issues, left: 0 };
  const ranked = [...issues].sort((a, b) => endOf(b) - endOf(a)).slice(0, Math.max(0, room - 1));
  const shown = issues.filter((issue) => ranked.includes(issue));
  return { shown, left: issues.length - shown.length };
}

function endOf(issue: LiveIssue): number {
  return issue.finishedAt ?? Number.MAX_SAFE_INTEGER;
}

function renderIssues(issues: readonly LiveIssue[], options: TableOptions): string[] {
  const isNarrow = options.columns < 60;
  const titles = columns.map((column) =>
    isNarrow && column.title === "FINDINGS" ? { ...column, title: "OPEN" } : column,
  );
  const rows = issues.map((issue) => {
    const counts = countFindings(Object.values(issue.open));
    const total = Object.keys(issue.open).length;
    return [
      plainLine(issue.id),
      issue.waitingFor === null ? issue.phase : `waiting: ${plainLine(issue.waitingFor)}`,
      formatAttempt(issue.attempt, issue.maxAttempts),
      isNarrow ? (total === 0 ? "-" : String(total)) : formatCounts(counts),
      formatCost(issue.costUsd),
      formatSeconds(((issue.finishedAt ?? options.now) - issue.startedAt) / 1000),
      plainLine(issue.title),
    ];
  });
  const lines = renderColumns(titles, rows, options);
  const isFitting = lines.every((line) => options.width(line) <= options.columns);
  if (isFitting && options.color) return renderColumns(titles, rows, { ...options, paint: painter(issues) });
  return lines.map((line) => cut(line, options.columns, options.width));
}

function totals(model: Live, now: number): string {
  const words = ["succeeded", "failed", "escalated", "interrupted"] as const;
  const ended = words.flatMap((word) => {
    const count = model.issues.filter((issue) => issue.phase === word).length;
    return count > 0 ? [`${count} ${word}`] : [];
  });
  const running = model.issues.filter((issue) => issue.finishedAt === null).length;
  const costs = [...model.issues.map(({ costUsd }) => costUsd), model.triggerCostUsd].filter((cost) => cost !== null);
  const open = model.issues.reduce((sum, issue) => sum + Object.keys(issue.open).length, 0);
  return [
    [`${running} running`, ...ended].join(", "),
    `${plural(open, "finding")} open`,
    ...(costs.length > 0 ? [formatCost(costs.reduce((sum, cost) => sum + cost, 0))] : []),
    ...(model.startedAt === null ? [] : [formatSeconds(((model.finishedAt ?? now) - model.startedAt) / 1000)]),
  ].join(" · ");
}

const codes = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
const phaseColors: Readonly<Record<string, keyof typeof codes>> = {
  succeeded: "green",
  failed: "red",
  escalated: "red",
  interrupted: "yellow",
};

function painter(issues: readonly LiveIssue[]): Paint {
  return (text, { row, column }) => {
    const issue = row === null ? undefined : issues[row];
    if (!issue) return paint("dim", text);
    if (column === "PHASE")
      return paint(issue.waitingFor === null ? (phaseColors[issue.phase] ?? "cyan") : "yellow", text);
    if (column === "TITLE") return paint("dim", text);
    return text;
  };
}

function paint(color: keyof typeof codes, text: string): string {
  const esc = String.fromCharCode(0x1b);
  return `${esc}[${codes[color]}m${text}${esc}[0m`;
}
