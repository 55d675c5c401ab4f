import { pullRequestSources } from "../../core/board/payload.js";
import type { OnBranch } from "../../core/not-ready.js";
import type { Issue, Tracker } from "../../core/ports/tracker.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import type { RunOptions } from "../../core/run/effects.js";
import { runPolicy } from "../../core/run/policy.js";
import type { Settings } from "../../core/settings.js";
import { foreignName, foreignOf } from "../../views/foreign-tracker.js";
import { isInScope, nameScope } from "../../views/scope.js";
import { emptyEpicsLine, leftAs, readyWords, untouchedWords, waitingLine } from "../../views/waiting.js";
import type { Context } from "../context.js";
import { meantOf } from "./meant.js";
import { openItems } from "./open-items.js";

const everything = 100_000;

/** A run that finds nothing ready says what it leaves: it would look like there is nothing to do. */
export async function tellWaiting(
  { app, out }: Context,
  wanted: RunOptions,
  { settings, tracker }: { readonly settings: Settings; readonly tracker: Tracker },
): Promise<void> {
  const { scope, resume, only } = wanted;
  if (scope.type === "ids") return;
  const asked = { store: await app.store(), project: await app.project(), wanted };
  const offered = await tracker.ready({ scope, resume, limit: only === "check" ? everything : 1 });
  const [first] = await meantOf(asked, offered);
  if (first !== undefined) {
    // Hardly ever: then all of them are asked for.
    const waits = (await app.unmerged(settings, first.deps, tracker)).length > 0;
    const ready = waits ? await tracker.ready({ scope, resume, limit: everything }) : [];
    return await tellUnmerged({ app, out }, await meantOf(asked, ready), { settings, tracker, wanted });
  }
  // None of them is meant, if there are any.
  const untouched = offered.map(({ id }) => id);
  const due = await epicsToComplete(app, wanted, { settings, tracker });
  const foreign = foreignOf(tracker);
  if (foreign !== null) {
    // What the tracker is still to be told, this run tells it before it takes anything.
    const untold = (await app.untold(tracker.kind)).filter(({ op }) => op !== "follow-up");
    const ids = [...new Set(untold.map(({ issueId }) => issueId))];
    const facts = { name: foreignName(foreign), due, untold: ids, untouched: untouched.length };
    return out.note(await tellForeign(tracker, wanted, facts));
  }
  const { project, store } = asked;
  const items = await openItems(store.workItems, project.id);
  const parents = new Map(items.map(({ id, parent }) => [id, parent]));
  const inScope = items.filter((item) => isInScope(scope, item.id, ancestorsOf(item, parents)));
  const meant = inScope.filter(({ type }) => type === "task");
  if (settings.finalize.mode === "pr" && meant.some((item) => isReadyItem(item, resume))) return;
  const leftBy = (item: WorkItem) => (untouched.includes(item.id) ? ["untouched" as const] : leftAs(item));
  const line = waitingLine(meant.flatMap(leftBy), due);
  const where = scope.type === "all" ? ' (ratchet work add "<title>")' : ` ${nameScope(scope)}`;
  if (line !== null) return out.note(line);
  out.note(`${readyWords(due)}: there is no open issue${where}`);
  const hasNone = ({ id, type, status }: WorkItem) =>
    type === "epic" && status !== "completed" && items.every(({ parent }) => parent !== id);
  const empty = emptyEpicsLine(inScope.filter(hasNone).map(({ id }) => id));
  if (empty !== null) out.note(empty);
  for (const { id, type, status } of inScope) {
    const isDone =
      type === "epic" &&
      status !== "completed" &&
      items.every((one) => one.parent !== id || one.status === "completed");
    const [first] = isDone ? await app.unmerged(settings, [id], tracker) : [];
    if (first !== undefined) out.note(`epic ${waitsForBranch(id, first)}`);
  }
}

function waitsForBranch(id: string, { id: other, branch }: OnBranch): string {
  return `${id} waits for ${branch}, which is not merged yet (ratchet land ${other})`;
}

/** Due epics that this run completes before it ends, and after which there may be more to do. */
async function epicsToComplete(
  app: Context["app"],
  wanted: RunOptions,
  { settings, tracker }: { readonly settings: Settings; readonly tracker: Tracker },
): Promise<string[]> {
  const { findsEpics = false, verify } = runPolicy(settings, wanted);
  if (!findsEpics || verify === "later") return [];
  const due: string[] = [];
  for (const { id } of (await tracker.epics?.due({ scope: wanted.scope, holder: "" })) ?? []) {
    if ((await app.unmerged(settings, [id], tracker)).length === 0) due.push(id);
  }
  return due;
}

/** Nothing, where one of them can start. */
async function tellUnmerged(
  { app, out }: Pick<Context, "app" | "out">,
  ready: readonly Issue[],
  {
    settings,
    tracker,
    wanted,
  }: { readonly settings: Settings; readonly tracker: Tracker; readonly wanted: RunOptions },
): Promise<void> {
  const waits: string[] = [];
  for (const { id, deps } of ready) {
    const [first] = await app.unmerged(settings, deps, tracker);
    if (first === undefined) return;
    waits.push(waitsForBranch(id, first));
  }
  if (waits.length === 0) return;
  const more = waits.length > 1 ? `, and ${waits.length - 1} more wait likewise` : "";
  const due = await epicsToComplete(app, wanted, { settings, tracker });
  out.note(`${readyWords(due)}: ${waits[0]}${more}`);
}

/** What a pull request has made comes before issues, and is taken at once. */
function isReadyItem({ source, status }: WorkItem, resume: boolean): boolean {
  return pullRequestSources.includes(source) && (status === "available" || (resume && status === "failed"));
}

function ancestorsOf({ parent }: WorkItem, parents: ReadonlyMap<string, string | null>): string[] {
  const found: string[] = [];
  for (let above = parent; above !== null && !found.includes(above); above = parents.get(above) ?? null) {
    found.push(above);
  }
  return found;
}

interface ForeignFacts {
  readonly name: string;
  readonly due: readonly string[];
  readonly untold: readonly string[];
  /** How many it has ready that nobody has worked on, where only that is wanted. */
  readonly untouched: number;
}

/** Another tracker tells only what is ready: with a resume, what has failed or was stopped too. */
async function tellForeign(
  tracker: Tracker,
  { scope, resume }: RunOptions,
  { name, due, untold, untouched }: ForeignFacts,
): Promise<string> {
  const all = resume ? [] : await tracker.ready({ scope, resume: true, limit: everything });
  const begun = all.filter(({ id }) => !untold.includes(id)).length;
  const stopped = begun === 0 ? "" : `, ${begun} failed or stopped (ratchet run --resume)`;
  const left = untouched === 0 ? stopped : `${stopped}, ${untouchedWords(untouched)}`;
  const [first, ...others] = untold;
  if (first === undefined) return `${readyWords(due)} in ${name}${left}; ratchet explain <id> says why an issue is not`;
  // That may make ready what waits for it, or the issue itself.
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return `${readyWords(due)} in ${name} before it is told what became of ${first}${more}${left}`;
}
