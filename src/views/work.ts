import { plainLine, plainText } from "../core/plain-text.js";
import type { WorkItem } from "../core/ports/work-items.js";
import { type Column, type Room, renderColumns } from "./columns.js";
import { formatPriority } from "./format.js";

/** `work list --json`: an array of these; `work show --json` adds `events`. */
export interface WorkItemJson {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly type: "task" | "epic";
  readonly parent: string | null;
  readonly deps: readonly string[];
  readonly priority: WorkItem["priority"];
  readonly status: WorkItem["status"];
  readonly source: string;
  readonly claimed_by: string | null;
  readonly failure_count: number;
  readonly failure_reason: string | null;
  readonly payload: unknown;
}
export interface WorkEvent {
  readonly time: string;
  readonly type: string;
}

export function toWorkItemJson(item: WorkItem): WorkItemJson {
  const { id, title, body, type, parent, deps, priority, status, source } = item;
  return {
    ...{ id, title, body, type, parent, deps, priority, status, source },
    claimed_by: item.claimedBy,
    failure_count: item.failureCount,
    failure_reason: item.failureReason,
    payload: item.payload,
  };
}

const columns: readonly Column[] = [
  { title: "ID", least: 8 },
  { title: "STATUS", least: 9 },
  { title: "PRIO", drop: 0 },
  { title: "FAILED", align: "right", drop: 2 },
  { title: "AFTER", least: 8, drop: 1 },
  { title: "TITLE", least: 10 },
];

export function renderWorkList(items: readonly WorkItem[], room: Room): string[] {
  if (items.length === 0) return ["No work. Add some with `ratchet work add <title>`."];
  const rows = items.map((item) => [
    plainLine(item.id),
    item.status,
    formatPriority(item.priority),
    item.failureCount === 0 ? "-" : String(item.failureCount),
    plainLine(item.deps.join(" ")) || "-",
    `${item.type === "epic" ? "[epic] " : ""}${plainLine(item.title)}`,
  ]);
  return renderColumns(columns, rows, room);
}

export function renderWorkItem(item: WorkItem, events: readonly WorkEvent[]): string[] {
  const facts = [
    ["status", item.status],
    ["type", item.type],
    ["priority", formatPriority(item.priority)],
    ["parent", item.parent],
    ["after", item.deps.join(", ")],
    ["source", item.source],
    ["claimed by", item.claimedBy],
    ["PR", item.payload?.pr_url],
    ["escalated", escalationOf(item)],
    ["failures", item.failureCount === 0 ? "" : `${item.failureCount}: ${item.failureReason ?? "no reason given"}`],
  ] as const;
  const told = facts.flatMap(([name, value]) => (value ? [`${name.padEnd(12)}${plainLine(value)}`] : []));
  const body = item.body.trim() === "" ? [] : ["", ...plainText(item.body).trimEnd().split("\n")];
  const history = events.map((event) => `${event.time}  ${plainLine(event.type)}`);
  return [
    `${plainLine(item.id)}: ${plainLine(item.title)}`,
    ...told,
    ...body,
    ...(history.length > 0 ? ["", ...history] : []),
  ];
}

/** Why it waits for a person; items of pull requests have it as their reason alone. */
function escalationOf({ status, payload, failureReason }: WorkItem): string | null {
  if (payload?.human_review_required) return payload.escalation_reason ?? failureReason ?? "yes";
  return status === "waiting_for_response" ? failureReason : null;
}
