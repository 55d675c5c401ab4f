import type { Issue, Scope, Tracker } from "../../core/ports/tracker.js";
import type { Claims } from "./claims.js";
import { readIssue } from "./freed.js";
import { isClosed, labels, listReady, listWhere, showBead, showListed } from "./issues.js";
import type { Beads } from "./program.js";
import type { Bead } from "./read.js";

type Query = Parameters<Tracker["ready"]>[0];

/** What may start now, best first. With `resume`, first what was begun: claims that bind nobody, failed, stopped. */
export async function readReady(beads: Beads, claims: Claims, query: Query): Promise<Issue[]> {
  const isInScope = scopeTest(beads, query.scope);
  const [begun, fresh]: [Ranked[], Ranked[]] = [[], []];
  let idle: readonly Bead[] = [];
  const list = async (): Promise<Bead[]> => {
    const candidates = byPriority((await listReady(beads)).filter((bead) => isFree(bead) && mayBe(bead, query.scope)));
    idle = query.resume ? await listIdle(beads, claims, query.scope) : [];
    return [...idle, ...candidates];
  };
  for await (const bead of showListed(beads, list)) {
    const rank = rankOf(bead, idle);
    if (rank === "never" || !(await isInScope(bead))) continue;
    const issue = await readIssue(beads, bead);
    if (issue.status === "failed" && !query.resume) continue;
    (rank === "fresh" || !query.resume ? fresh : begun).push({ issue, priority: bead.priority });
    // Only a resume has to see them all: what was begun may come last in the tracker's order.
    if (!query.resume && fresh.length >= query.limit) break;
  }
  return [...byPriority(begun), ...byPriority(fresh)].slice(0, query.limit).map(({ issue }) => issue);
}

interface Ranked {
  readonly issue: Issue;
  /** The tracker's own, which has more of them. */
  readonly priority: number;
}

function byPriority<T extends { readonly priority: number }>(list: readonly T[]): T[] {
  return list.toSorted((one, other) => one.priority - other.priority);
}

/** An open issue that has an assignee is somebody's plan: nobody else can claim it. */
function isFree({ type, status, assignee }: Bead): boolean {
  return type !== "epic" && status === "open" && assignee === null;
}

async function listIdle(beads: Beads, claims: Claims, scope: Scope): Promise<Bead[]> {
  const idle: Bead[] = [];
  for (const bead of await listWhere(beads, "--status=in_progress")) {
    if (bead.type !== "epic" && mayBe(bead, scope) && (await claims.isIdle(bead))) idle.push(bead);
  }
  return byPriority(idle);
}

function rankOf(bead: Bead, idle: readonly Bead[]): "never" | "idle" | "failed" | "stopped" | "fresh" {
  const waits = bead.blockers.some(({ status }) => status !== null && !isClosed(status));
  if (waits || bead.type === "epic" || bead.labels.includes(labels.escalated)) return "never";
  if (idle.some(({ id }) => id === bead.id)) return bead.status === "in_progress" ? "idle" : "never";
  if (!isFree(bead)) return "never";
  if (bead.labels.includes(labels.failed)) return "failed";
  return bead.labels.includes(labels.stopped) ? "stopped" : "fresh";
}

/** What the id alone tells, before anything more is asked. */
function mayBe({ id }: Bead, scope: Scope): boolean {
  return scope.type !== "ids" || scope.ids.includes(id);
}

export function scopeTest(beads: Beads, scope: Scope): (bead: Bead) => Promise<boolean> {
  const parents = new Map<string, Promise<string | null>>();
  const parentOf = (id: string): Promise<string | null> => {
    const known = parents.get(id) ?? showBead(beads, id).then((bead) => bead?.parent ?? null);
    parents.set(id, known);
    return known;
  };
  switch (scope.type) {
    case "all":
    case "ids":
      return async () => true;
    case "orphans":
      return async ({ parent }) => parent === null;
    case "epic":
      return async ({ parent }) => isBelow(scope.epic, parent, parentOf);
  }
}

/** Whoever linked two issues as each other's parent gets an end all the same. */
async function isBelow(
  epic: string,
  parent: string | null,
  parentOf: (id: string) => Promise<string | null>,
): Promise<boolean> {
  const seen = new Set<string>();
  for (let above = parent; above !== null && !seen.has(above); above = await parentOf(above)) {
    if (above === epic) return true;
    seen.add(above);
  }
  return false;
}
