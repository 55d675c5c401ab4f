import type { Issue } from "../../core/ports/tracker.js";
import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import { type RunContext, runNames } from "../context.js";
import { mayLiveAgain, secondLife } from "./live-again.js";
import { bestItem } from "./pick-item.js";

type PickEffect = Extract<RunEffect, { readonly kind: "pick" }>;

/** Tells the tracker first what is owed to it; waits for a place, then takes the best issue that may start now; the place is kept for its first turn. */
export async function performPick(
  run: RunContext,
  effect: PickEffect,
  signal: AbortSignal,
): Promise<Settled<RunEvent>> {
  const place = await run.slots.reserve(signal);
  try {
    const budget = run.meter.over();
    if (budget !== null) {
      place();
      return { event: { type: "none-left", key: effect.key, budget } };
    }
    const untold = await run.outbox.empty(run.tracker);
    const told = untold.length === 0 ? {} : { told: untold };
    const cursor = await (run.tracker.cursor?.() ?? (run.forge ? run.board.cursor() : undefined));
    await run.pullRequestsSeen;
    const item = await bestItem(run, effect.not);
    if (item) {
      run.slots.keep(item.issueId, place);
      return { event: { type: "picked", key: effect.key, start: item, ...told } };
    }
    const issue = await bestIssue(run, effect.not);
    if (!issue) {
      place();
      return { event: { type: "none-left", key: effect.key, ...told, ...(cursor === undefined ? {} : { cursor }) } };
    }
    const life = await run.history.nextLife(issue.id);
    const last = await run.history.resumeFrom(issue.id);
    const deliver = mayDeliver(run) ? last?.deliver : undefined;
    // Work that only has to be pushed is not done anew because nobody said resume.
    const resume = run.options.resume || deliver ? last : null;
    run.slots.keep(issue.id, place);
    const { id: issueId, title, parent } = issue;
    const again = (await run.history.hadLife(issueId)) ? await secondLife(run, issueId) : {};
    const kept = { ...(deliver ? { deliver } : {}), ...(last?.reviewBase ? { reviewBase: last.reviewBase } : {}) };
    const start = { issueId, title, life, resume, parent, followUp: issue.followUpOf != null, ...again, ...kept };
    return { event: { type: "picked", key: effect.key, start, ...told } };
  } catch (error) {
    place();
    throw error;
  }
}

/** The first that this run has not had; what it has had is hardly ever ready again, so a few rows are enough. */
async function bestIssue(run: RunContext, not: readonly string[]): Promise<Issue | null> {
  const { scope, resume, only, leave = [] } = run.options;
  if (only === "land") return await namedIssue(run, not);
  const ownItem = runNames(run.runId).item;
  const had = async (id: string) => not.includes(id) || (await run.history.hadLife(id));
  const over = async (issue: Issue) =>
    not.includes(issue.id) || !mayLiveAgain(issue, await run.history.record(issue.id));
  for (let limit = 4; ; limit *= 4) {
    const ready = await run.tracker.ready({ scope, resume, limit });
    for (const issue of ready) {
      const madeHere = issue.followUpOf != null && (issue.followUpOf === ownItem || (await had(issue.followUpOf)));
      if (madeHere || leave.includes(issue.id) || (await over(issue))) continue;
      if (only !== undefined && !(await isFor(run, issue.id, only))) continue;
      return issue;
    }
    if (ready.length < limit) return null;
  }
}

/** Who asks for a gate or a landing by hand gets it. */
function mayDeliver({ options: { only } }: RunContext): boolean {
  return only === undefined || only === "push";
}

/** Where no agent starts, there must be something that an earlier life has left. */
async function isFor({ history }: RunContext, id: string, only: "check" | "push"): Promise<boolean> {
  const last = await history.resumeFrom(id);
  return only === "check" ? last !== null : last?.deliver !== undefined;
}

/** To be landed by hand: whatever the tracker thinks of it. */
async function namedIssue({ tracker, options, history }: RunContext, not: readonly string[]): Promise<Issue | null> {
  const ids = options.scope.type === "ids" ? options.scope.ids : [];
  for (const id of ids) {
    if (not.includes(id) || (await history.hadLife(id))) continue;
    const issue = await tracker.get(id);
    if (issue) return issue;
  }
  return null;
}
