import type { ItemStatus } from "../../core/ports/tracker.js";
import type { WorkItem, WorkItems } from "../../core/ports/work-items.js";

const open: readonly ItemStatus[] = [
  ...(["available", "claimed", "blocked", "waiting_for_response", "failed", "quarantined"] as const),
];
const everything = 100_000;

/**
 * What is open on a board, with the completed items that it names: above it, before it, and in its epics. What else was
 * completed is not read: a board has more and more of that.
 */
export async function openItems(items: WorkItems, projectId: string): Promise<WorkItem[]> {
  const found = await items.list({ projectId, statuses: open, limit: everything });
  const known = new Set(found.map(({ id }) => id));
  for (const item of found) {
    for (const other of await namedBy(item, items)) {
      const named = typeof other !== "string" ? other : known.has(other) ? null : await items.get(projectId, other);
      if (named === null || known.has(named.id)) continue;
      known.add(named.id);
      found.push(named);
    }
  }
  return found;
}

/** What a completed item waited for, or had in it, matters to nobody any more. */
async function namedBy(item: WorkItem, items: WorkItems): Promise<readonly (WorkItem | string)[]> {
  const above = item.parent === null ? [] : [item.parent];
  if (item.status === "completed") return above;
  const children = item.type === "epic" ? await items.childrenOf(item.projectId, item.id) : [];
  return [...above, ...item.deps, ...children];
}
