import type { Issue } from "../../core/ports/tracker.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import type { Settings } from "../../core/settings.js";
import type { Context } from "../context.js";
import type { Wanted } from "./request.js";

const everything = 100_000;

/** The ids a run would take if every issue succeeds: first what is ready, then what that makes ready. */
export async function planRun({ app }: Context, wanted: Wanted, settings: Settings): Promise<string[]> {
  const project = await app.project();
  const tracker = await app.tracker(settings);
  const { scope, resume } = wanted;
  const ready = await tracker.ready({ scope, resume, limit: everything });
  // Another tracker tells only what is ready now; what is on our board is not its.
  if (tracker.kind !== "local") return ready.map(({ id }) => id).slice(0, settings.max_issues ?? undefined);
  const { workItems } = await app.store();
  const waiting = await workItems.list({ projectId: project.id, statuses: ["available", "failed"], limit: everything });
  const all = await workItems.list({ projectId: project.id, statuses: null, limit: everything });
  const candidates = waiting.filter((item) => item.type === "task" && (resume || item.status === "available"));
  const order = inOrder(ready, { candidates: candidates.filter((item) => isInScope(item, wanted, all)), all });
  return order.slice(0, settings.max_issues ?? undefined);
}

interface Board {
  readonly candidates: readonly WorkItem[];
  readonly all: readonly WorkItem[];
}

function inOrder(ready: readonly Issue[], { candidates, all }: Board): string[] {
  const order = ready.map(({ id }) => id);
  const done = new Set([...order, ...all.filter(({ status }) => status === "completed").map(({ id }) => id)]);
  for (let found = true; found; ) {
    const next = candidates.filter(({ id, deps }) => !done.has(id) && deps.every((dep) => done.has(dep)));
    for (const { id } of next) {
      order.push(id);
      done.add(id);
    }
    found = next.length > 0;
  }
  return order;
}

function isInScope(item: WorkItem, { scope }: Wanted, all: readonly WorkItem[]): boolean {
  switch (scope.type) {
    case "all":
      return true;
    case "orphans":
      return item.parent === null;
    case "ids":
      return scope.ids.includes(item.id);
    case "epic":
      return isBelow(item, scope.epic, new Map(all.map((one) => [one.id, one])));
  }
}

function isBelow(item: WorkItem, epic: string, byId: ReadonlyMap<string, WorkItem>): boolean {
  const seen = new Set<string>();
  for (let at: WorkItem | undefined = item; at && !seen.has(at.id); at = byId.get(at.parent ?? "")) {
    if (at.id === epic) return true;
    seen.add(at.id);
  }
  return false;
}
