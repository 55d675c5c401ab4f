import { plainLine } from "../core/plain-text.js";
import type { WorkItem } from "../core/ports/work-items.js";
import { type Column, type Room, renderColumns } from "./columns.js";

/** An event of the board as `observe --json` prints it; further keys belong to its type. */
export interface BoardEventJson {
  readonly id: number;
  readonly time: string;
  readonly type: string;
  readonly project_id: string;
  readonly item_id: string;
}

/** One line: when, what about which item, and what is told with it. */
export function renderBoardEvent(event: BoardEventJson): string {
  const { id: _id, time, type, project_id: project, item_id: item, ...rest } = event;
  const told = Object.entries(rest).flatMap(([key, value]) =>
    value === null || value === "" ? [] : [`${key}=${cut(plainLine(String(value)))}`],
  );
  return [time, `${plainLine(project)}/${plainLine(item)}`, plainLine(type), ...told].join("  ");
}

const longest = 300;

/** One event is one line, whatever was written into it; --json has all of it. */
function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

export type SearchHit =
  | { readonly kind: "item"; readonly item: WorkItem }
  | { readonly kind: "event"; readonly event: BoardEventJson };

/** `search --json`: an array of these. */
export function toHitJson(hit: SearchHit, typed: string) {
  if (hit.kind === "event") {
    const { id: event_id, type: event, ...rest } = hit.event;
    return { kind: "event", event_id, event, ...rest };
  }
  const { id, projectId: project_id, title, status, source, priority } = hit.item;
  return { kind: "item", id, project_id, title, status, source, priority, excerpt: excerptOf(hit.item, typed) };
}

export function renderHits(hits: readonly SearchHit[], typed: string): string[] {
  if (hits.length === 0) return ["Nothing found."];
  return hits.flatMap((hit) => {
    if (hit.kind === "event") return [renderBoardEvent(hit.event)];
    const { projectId, id, status, title } = hit.item;
    const excerpt = excerptOf(hit.item, typed);
    const head = `${plainLine(projectId)}/${plainLine(id)}  ${status}  ${cut(plainLine(title))}`;
    return excerpt === "" ? [head] : [head, `    ${plainLine(excerpt)}`];
  });
}

const around = 60;

/** Where the first of the words stands in the body; empty: it is not there. */
function excerptOf({ body }: WorkItem, typed: string): string {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = body.toLowerCase();
  const at = words.map((word) => lower.indexOf(word)).find((index) => index >= 0);
  if (at === undefined) return "";
  const [from, to] = [Math.max(0, at - around), Math.min(body.length, at + around)];
  const text = body.slice(from, to).replace(/\s+/g, " ").trim();
  return `${from > 0 ? "…" : ""}${text}${to < body.length ? "…" : ""}`;
}

/** Whoever holds items: a run and the process that drives it, or somebody with a lease. */
export interface AgentJson {
  readonly kind: "run" | "claim";
  readonly name: string;
  readonly project_id: string;
  /** unknown: no process to ask, or one on another machine. */
  readonly state: "alive" | "dead" | "unknown";
  readonly machine: string | null;
  readonly pid: number | null;
  readonly started_at: string | null;
  readonly last_heartbeat: string | null;
  readonly lease_until: string | null;
  readonly items: readonly string[];
}

const agentColumns: readonly Column[] = [
  { title: "WHO", least: 8 },
  { title: "PROJECT", least: 6, drop: 2 },
  { title: "STATE" },
  { title: "PROCESS", drop: 3 },
  { title: "SEEN", drop: 1 },
  { title: "ITEMS", least: 8 },
];

export function renderAgents(agents: readonly AgentJson[], room: Room): string[] {
  if (agents.length === 0) return ["Nobody is at work."];
  const rows = agents.map((agent) => [
    plainLine(agent.name),
    plainLine(agent.project_id),
    agent.lease_until === null ? agent.state : `until ${agent.lease_until}`,
    agent.pid === null ? "-" : `${agent.pid} on ${plainLine(agent.machine ?? "?")}`,
    agent.last_heartbeat ?? "-",
    plainLine(agent.items.join(" ")) || "-",
  ]);
  return renderColumns(agentColumns, rows, room);
}
