import type { Issue } from "../../core/ports/tracker.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import { runPolicy, seesToEpic } from "../../core/run/policy.js";
import type { Settings } from "../../core/settings.js";
import { openTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";
import { findLeftRuns, type LeftRun } from "./left-runs.js";
import { meantOf } from "./meant.js";
import { openItems } from "./open-items.js";
import type { Wanted } from "./request.js";

const everything = 100_000;

export interface Plan {
  /** What a run would take if every issue succeeds: first what is ready, then what that makes ready. */
  readonly taken: readonly Issue[];
  /** What would be next if `max_issues` allowed it. */
  readonly beyond: readonly Issue[];
  /** Open, in the scope, and not to be had. Of another tracker nobody knows. */
  readonly left: readonly string[];
  /** What is not completed, epics too. What another tracker tells is ready, so it waits for nothing. */
  readonly open: ReadonlySet<string>;
  /** What would be gone on with before. */
  readonly continued: readonly LeftRun[];
}

export async function planRun(context: Context, wanted: Wanted, settings: Settings): Promise<Plan> {
  const { app } = context;
  const project = await app.project();
  const tracker = await openTracker(context, settings);
  const { scope, resume } = wanted;
  const isMerged = async ({ deps }: Pick<Issue, "deps">) => (await app.unmerged(settings, deps, tracker)).length === 0;
  // What has landed is told to the tracker first, and not done again.
  const done = (await app.untold(tracker.kind)).flatMap(({ op, issueId }) => (op === "complete" ? [issueId] : []));
  const offered = (await tracker.ready({ scope, resume, limit: everything })).filter(({ id }) => !done.includes(id));
  const ready = await filterBy(offered, isMerged);
  const store = await app.store();
  const { workItems } = store;
  const continued = await findLeftRuns(context);
  const asked = { store, project, wanted };
  // Another tracker tells only what is ready now; what is on our board is not its.
  if (tracker.kind !== "local") {
    return { ...cut(await meantOf(asked, ready), settings), left: [], open: new Set(), continued };
  }
  const all = await openItems(workItems, project.id);
  const [begun, stopped] = [begunIn(continued, false), begunIn(continued, true)];
  const freed = all.filter(({ id }) => stopped.includes(id));
  // On branches of their own, what is done makes nothing ready before somebody merges it.
  const after = settings.finalize.mode === "branch" ? [] : all;
  const takes = resume ? ["available", "failed"] : ["available"];
  const candidates = after.filter(({ type, status }) => type === "task" && takes.includes(status));
  const inScope = [...candidates, ...freed].filter((item) => isInScope(item, wanted, all));
  const later = await filterBy(inScope, isMerged);
  const policy = runPolicy(settings, { ...wanted, maxIssues: settings.max_issues });
  const seesTo = (epic: WorkItem, children: readonly WorkItem[]) =>
    seesToEpic(policy, { status: epic.status, isInScope: isInScope(epic, wanted, all), children });
  const order = await meantOf(asked, inOrder(ready, { candidates: later, all, begun, seesTo }));
  const open = all.filter(({ status }) => status !== "completed");
  const known = new Set([...order.map(({ id }) => id), ...begun, ...stopped]);
  const isLeft = (item: WorkItem) => item.type === "task" && isInScope(item, wanted, all) && !known.has(item.id);
  const left = open.filter(isLeft).map(({ id }) => id);
  return { ...cut(order, settings), left, open: new Set(open.map(({ id }) => id)), continued };
}

/** What comes to its end before, or is available again where it or its run was told to stop. */
function begunIn(continued: readonly LeftRun[], isStopped: boolean): string[] {
  return continued.flatMap(({ issues, stopping, stopped = [] }) =>
    issues.filter((id) => (stopping || stopped.includes(id)) === isStopped),
  );
}

async function filterBy<T>(list: readonly T[], holds: (one: T) => Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(list.map(holds));
  return list.filter((_one, index) => kept[index]);
}

function cut(order: readonly Issue[], { max_issues }: Settings): Pick<Plan, "taken" | "beyond"> {
  const at = max_issues ?? order.length;
  return { taken: order.slice(0, at), beyond: order.slice(at) };
}

interface Board {
  readonly candidates: readonly WorkItem[];
  readonly all: readonly WorkItem[];
  /** What goes on in runs that are continued first. */
  readonly begun: readonly string[];
  /** Whether the run looks at an epic. */
  readonly seesTo: (epic: WorkItem, children: readonly WorkItem[]) => boolean;
}

function inOrder(ready: readonly Issue[], { candidates, all, begun, seesTo }: Board): Issue[] {
  const order = [...ready];
  const completed = all.filter(({ status }) => status === "completed");
  const done = new Set([...[...order, ...completed].map(({ id }) => id), ...begun]);
  for (let found = true; found; ) {
    const epics = all.filter((item) => !done.has(item.id) && isDue(item, { all, done, seesTo }));
    for (const { id } of epics) done.add(id);
    const next = candidates.filter(({ id, deps }) => !done.has(id) && deps.every((dep) => done.has(dep)));
    order.push(...next);
    for (const { id } of next) done.add(id);
    found = next.length + epics.length > 0;
  }
  return order;
}

/** An epic is completed with the last of its children and of what it depends on, and what waits for it goes on. */
function isDue(
  epic: WorkItem,
  { all, done, seesTo }: Pick<Board, "all" | "seesTo"> & { done: ReadonlySet<string> },
): boolean {
  const children = epic.type === "epic" ? all.filter(({ parent }) => parent === epic.id) : [];
  if (children.length === 0 || !seesTo(epic, children)) return false;
  return [...children.map(({ id }) => id), ...epic.deps].every((one) => done.has(one));
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
