import type { Store } from "../../app.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import { type AgentJson, renderAgents } from "../../views/board.js";
import { boardScope, type ScopeOptions, unknownYet } from "../board-scope.js";
import type { Context } from "../context.js";
import { roomOf } from "../room.js";

type Worker = Awaited<ReturnType<Store["workers"]["list"]>>[number];

/** At most this many claimed items are looked at; more are claimed nowhere. */
const mostClaims = 10_000;

/** Who is at work: runs with their processes, and whoever holds a lease. */
export async function listAgents(
  context: Context,
  options: ScopeOptions & { readonly json?: boolean },
): Promise<number> {
  const { app, out } = context;
  const store = await app.store("reader");
  const scope = await boardScope(context, store, options);
  if (scope.type === "unknown") out.note(unknownYet(scope.root));
  const agents = scope.type === "unknown" ? [] : await agentsOf(store, scope.type === "all" ? null : scope.id);
  if (options.json) out.json(agents);
  else for (const line of renderAgents(agents, await roomOf(out, agents))) out.line(line);
  return 0;
}

async function agentsOf(store: Store, projectId: string | null): Promise<AgentJson[]> {
  const [workers, claimed] = await Promise.all([
    store.workers.list(projectId),
    store.workItems.list({ projectId, statuses: ["claimed"], limit: mostClaims }),
  ]);
  return [...workers.map((worker) => runOf(worker, claimed)), ...leasesOf(claimed)];
}

function runOf(worker: Worker, claimed: readonly WorkItem[]): AgentJson {
  const { runId, projectId, state, machine, process, startedAt, seenAt } = worker;
  return {
    kind: "run",
    name: runId,
    project_id: projectId,
    state,
    machine,
    pid: process.pid,
    started_at: new Date(startedAt).toISOString(),
    last_heartbeat: new Date(seenAt).toISOString(),
    lease_until: null,
    items: claimed.filter(({ claimedBy }) => claimedBy === runId).map(({ id }) => id),
  };
}

function leasesOf(claimed: readonly WorkItem[]): AgentJson[] {
  return claimed.flatMap(({ id, projectId, claimedBy, leaseUntil, updatedAt }) => {
    if (claimedBy === null || leaseUntil === null) return [];
    return [
      {
        kind: "claim",
        name: claimedBy,
        project_id: projectId,
        state: "unknown",
        ...{ machine: null, pid: null, started_at: null },
        last_heartbeat: new Date(updatedAt).toISOString(),
        lease_until: new Date(leaseUntil).toISOString(),
        items: [id],
      },
    ];
  });
}
