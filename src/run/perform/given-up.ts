import type { TrackerEffect } from "../../core/issue/effects.js";
import type { IssueEvent } from "../../core/issue/events.js";
import { ExternalError } from "../../lib/errors.js";
import type { LifeContext } from "../context.js";
import { isTrackerAway, tellEnding } from "../tracker-outbox.js";
import { takenAway } from "./taken-away.js";

type GivenUp = Extract<TrackerEffect, { readonly op: "fail" | "escalate" | "give-back" }>;
type TrackerDone = Extract<IssueEvent, { readonly type: "tracker-done" }>;

/**
 * The work on an issue came to nothing, and the tracker is told. A refusal says that the issue is not the run's any more:
 * what somebody else has made of it counts then. A claim that is merely gone is taken again, and the end is told.
 */
export async function tellGivenUp(life: LifeContext, effect: GivenUp): Promise<TrackerDone> {
  const { key } = effect;
  const { tracker, runId: holder } = life.run;
  const tell = () => tellEnding(tracker, { issueId: life.issueId, holder, ...effect });
  try {
    await tell();
  } catch (error) {
    if (!(error instanceof ExternalError) || isTrackerAway(error)) throw error;
    const taken = await takenAway(life);
    const reason = error.message;
    if (taken !== null) return { type: "tracker-done", key, ok: false, reason, lost: true, taken };
    await tell();
  }
  const quarantined = effect.op === "fail" && (await isQuarantined(life));
  return { type: "tracker-done", key, ok: true, ...(quarantined ? { quarantined } : {}) };
}

/** Only our own board counts failures. */
async function isQuarantined({ run: { tracker }, issueId }: LifeContext): Promise<boolean> {
  return tracker.kind === "local" && (await tracker.get(issueId))?.status === "quarantined";
}
