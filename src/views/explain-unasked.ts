import type { ItemStatus } from "../core/ports/tracker.js";
import type { IssueRecord } from "../core/record.js";
import { trackerEndings } from "../core/tracker-endings.js";
import { causeOfLife, type LifeFacts } from "./explain.js";
import type { Cause, Explanation } from "./explanation.js";
import { type ForeignTracker, foreignHint, foreignName } from "./foreign-tracker.js";
import { shellWord } from "./shell-word.js";

/** What is known here of an issue whose tracker cannot be asked. */
export interface UnaskedFacts {
  readonly issueId: string;
  /** Its life in a run that has not ended. */
  readonly life: LifeFacts | null;
  /** What its last life came to. */
  readonly last: { readonly runId: string; readonly record: Pick<IssueRecord, "status" | "message"> } | null;
  /** What the tracker is still to be told of it, in order. */
  readonly untold: readonly (keyof typeof trackerEndings)[];
  readonly tracker: ForeignTracker;
}

const states: Readonly<Record<IssueRecord["status"], ItemStatus>> = {
  running: "claimed",
  interrupted: "available",
  failed: "failed",
  escalated: "waiting_for_response",
  success: "completed",
};

/** null: it has had no life here, so nothing is known. */
export function explainUnasked(facts: UnaskedFacts): Explanation | null {
  const { issueId, life, last, untold, tracker } = facts;
  if (life === null && last === null) return null;
  const cause = life === null ? causeOfLast(facts) : causeOfLife(life, false);
  const telling = untold.map((op) => `; ${foreignName(tracker)} has not been told yet that it ${trackerEndings[op]}`);
  const { running = false, next } = cause;
  const reason = `${cause.reason}${telling.join("")}`;
  const state = last === null || life !== null ? "claimed" : states[last.record.status];
  return { issue_id: issueId, state, running, reason, blockers: [], next };
}

function causeOfLast({ issueId, last, untold, tracker }: UnaskedFacts): Cause {
  if (last === null) return { reason: "", next: null };
  const { status, message } = last.record;
  const reason = `${status} in run ${last.runId}${message === "" ? "" : `: ${message}`}`;
  if (status === "success") return { reason, next: untold.length > 0 ? "ratchet run" : null };
  if (status === "escalated") return { reason, next: foreignHint(tracker, "retry", issueId) };
  return { reason, next: `ratchet run --resume ${shellWord(issueId)}` };
}
