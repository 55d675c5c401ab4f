import type { Issue, Scope } from "../../core/ports/tracker.js";
import type { IssueRecord } from "../../core/record.js";
import type { IssueStart, ResumeFrom, RunEffect, RunEvent } from "../../core/run/effects.js";
import { mayLiveAgain } from "../../core/run/live-again.js";
import type { Settled } from "../../durable/types.js";
import { type RunContext, runNames } from "../context.js";
import { unmergedDeps } from "../unmerged.js";
import { dueEpics } from "./epics.js";
import { isHeldBack, secondLife } from "./live-again.js";
import { bestItem } from "./pick-item.js";

type PickEffect = Extract<RunEffect, { readonly kind: "pick" }>;

/** Tells the tracker first what is owed to it; waits for a place, then takes the best issue that may start now; the place is kept for its first turn. */
export async function performPick(
  run: RunContext,
  { key, not, epics }: PickEffect,
  signal: AbortSignal,
): Promise<Settled<RunEvent>> {
  const place = await run.slots.reserve(signal);
  // Cancelled before its answer was heard: nobody comes for the place any more.
  signal.addEventListener("abort", place, { once: true });
  try {
    const budget = run.meter.over();
    if (budget !== null) {
      place();
      return { event: { type: "none-left", key, budget } };
    }
    const untold = await run.outbox.empty(run.tracker);
    const told = untold.length === 0 ? {} : { told: untold };
    await run.pullRequestsSeen;
    const { start, cursor } = await look(run, not);
    if (start) {
      run.slots.keep(start.issueId, place);
      return { event: { type: "picked", key, start, ...told } };
    }
    place();
    const hears = run.tracker.changed ? ({ hears: true } as const) : {};
    // The board tells only of what has come since.
    const due = epics && run.tracker.cursor ? { due: await dueEpics(run) } : {};
    const since = cursor === undefined ? {} : { cursor, ...hears };
    return { event: { type: "none-left", key, ...told, ...since, ...due } };
  } catch (error) {
    place();
    throw error;
  }
}

/**
 * What to start; where there is nothing, what has come since `cursor` was not seen. Our own board is looked at again
 * behind its cursor, so that as long as there is work nobody asks for one; other trackers are asked once.
 */
async function look(run: RunContext, not: readonly string[]) {
  const best = async () => (await bestItem(run, not)) ?? (await startBest(run, not));
  const before = run.tracker.cursor ? undefined : await boardCursor(run);
  const start = await best();
  if (start || !run.tracker.cursor) return { start, cursor: before };
  const cursor = await boardCursor(run);
  return { start: await best(), cursor };
}

/** Where the history of the board is that can tell of changes; asked before the look that finds nothing. */
export async function boardCursor({ tracker, forge, board }: RunContext): Promise<number | undefined> {
  return await (tracker.cursor?.() ?? (forge ? board.cursor() : undefined));
}

/** Something would be picked now, if there were a place. */
export async function mayStart(run: RunContext, not: readonly string[]): Promise<boolean> {
  return (await bestItem(run, not)) !== null || (await bestIssue(run, not)) !== null;
}

async function startBest(run: RunContext, not: readonly string[]): Promise<IssueStart | null> {
  const found = await bestIssue(run, not);
  if (!found) return null;
  const { issue, had } = found;
  const { id: issueId, title, parent } = issue;
  const { nextLife: life, resume: last } = await run.history.earlier(issueId);
  const deliver = mayDeliver(run) ? last?.deliver : undefined;
  // Work that only has to be pushed is not done anew because nobody said resume.
  const resume = run.options.resume || deliver ? last : null;
  const again = await secondLife(run, issueId, had);
  const kept = {
    ...(deliver ? { deliver } : {}),
    ...(last?.reviewBase ? { reviewBase: last.reviewBase } : {}),
    ...(last?.unmerged ? { unmerged: last.unmerged } : {}),
    ...(last !== null && resume === null ? leftOpen(last) : {}),
  };
  return { issueId, title, life, resume, parent, followUp: issue.followUpOf != null, ...again, ...kept };
}

/** Nobody said resume: what was found against the work holds all the same, and so does what it was found in. */
function leftOpen({ blocking, seen }: ResumeFrom): Pick<IssueStart, "blocking" | "seen"> {
  return { ...(blocking.length > 0 ? { blocking } : {}), ...(seen === null ? {} : { seen }) };
}

interface Found {
  readonly issue: Issue;
  /** The life that this run has had of it. */
  readonly had: IssueRecord | null;
}

/** The first that this run has not had; what it has had is hardly ever ready again, so a few rows are enough. */
async function bestIssue(run: RunContext, not: readonly string[]): Promise<Found | null> {
  const { scope, resume, only, leave = [] } = run.options;
  if (only === "land") return await namedIssue(run, not);
  const ownItem = runNames(run.runId).item;
  const hadIt = async (id: string) => id === ownItem || not.includes(id) || (await run.history.record(id)) !== null;
  const isOurs = async ({ id, followUpOf }: Issue) =>
    (followUpOf != null && (await hadIt(followUpOf))) || (!isNamed(scope, id) && (await run.outbox.hasMade(id)));
  for (let limit = 4; ; limit *= 4) {
    const ready = await run.tracker.ready({ scope, resume, limit });
    for (const issue of ready) {
      const { id, begun } = issue;
      if (not.includes(id) || leave.includes(id) || (await isOurs(issue))) continue;
      // What nobody has begun was not begun here.
      const had = begun === false ? null : await run.history.record(id);
      if (!(await mayLiveAgain(issue, had, () => run.board.isRetried(run.projectId, id)))) continue;
      if (await isHeldBack(run, issue)) continue;
      if (only !== undefined && !(await isFor(run, id, only))) continue;
      if (await waitsForMerge(run, issue)) continue;
      if (begun !== false && (await run.outbox.isDone(id))) continue;
      return { issue, had };
    }
    if (ready.length < limit) return null;
  }
}

/** Then it was there before the run. */
function isNamed(scope: Scope, id: string): boolean {
  return scope.type === "ids" && scope.ids.some((each) => each.replace(/^#/, "") === id);
}

/** What it depends on is on branches that nobody has merged: it would start without. */
async function waitsForMerge(run: RunContext, { deps }: Issue): Promise<boolean> {
  return (await unmergedDeps(run, run.tracker, deps)).length > 0;
}

/** Who asks for a gate or a landing by hand gets it. */
function mayDeliver({ options: { only } }: RunContext): boolean {
  return only === undefined || only === "push";
}

/** Where no agent starts, there must be something that an earlier life has left. */
async function isFor({ history }: RunContext, id: string, only: "check" | "push"): Promise<boolean> {
  const { resume } = await history.earlier(id);
  return only === "check" ? resume !== null : resume?.deliver !== undefined;
}

/** To be landed by hand: whatever the tracker thinks of it. */
async function namedIssue({ tracker, options, history }: RunContext, not: readonly string[]): Promise<Found | null> {
  const ids = options.scope.type === "ids" ? options.scope.ids : [];
  for (const id of ids) {
    if (not.includes(id) || (await history.record(id)) !== null) continue;
    const issue = await tracker.get(id);
    if (issue) return { issue, had: null };
  }
  return null;
}
