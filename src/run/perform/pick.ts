import type { Issue } from "../../core/ports/tracker.js";
import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import type { RunContext } from "../context.js";

type Pick = Extract<RunEffect, { readonly kind: "pick" }>;

/** Waits for a place, then takes the best issue that may start now; the place is kept for its first turn. */
export async function performPick(run: RunContext, effect: Pick, signal: AbortSignal): Promise<Settled<RunEvent>> {
  const place = await run.slots.reserve(signal);
  try {
    const budget = run.meter.over();
    if (budget !== null) {
      place();
      return { event: { type: "none-left", key: effect.key, budget } };
    }
    const issue = await bestIssue(run, effect.not);
    if (!issue) {
      place();
      return { event: { type: "none-left", key: effect.key } };
    }
    const life = await run.history.nextLife(issue.id);
    const resume = run.options.resume ? await run.history.resumeFrom(issue.id) : null;
    run.slots.keep(issue.id, place);
    const start = { issueId: issue.id, title: issue.title, life, resume, followUp: issue.followUpOf != null };
    return { event: { type: "picked", key: effect.key, start } };
  } catch (error) {
    place();
    throw error;
  }
}

/** The first that this run has not had; what it has had is hardly ever ready again, so a few rows are enough. */
async function bestIssue(run: RunContext, not: readonly string[]): Promise<Issue | null> {
  const { scope, resume } = run.options;
  const had = async (id: string) => not.includes(id) || (await run.history.hadLife(id));
  for (let limit = 8; ; limit *= 4) {
    const ready = await run.tracker.ready({ scope, resume, limit });
    for (const issue of ready) {
      const madeHere = issue.followUpOf != null && (await had(issue.followUpOf));
      if (!madeHere && !(await had(issue.id))) return issue;
    }
    if (ready.length < limit) return null;
  }
}
