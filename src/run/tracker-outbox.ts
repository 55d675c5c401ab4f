import type { FollowUpText, GivenBack, Tracker } from "../core/ports/tracker.js";
import { ExternalError } from "../lib/errors.js";

/**
 * What became of an issue and could not be told to its tracker. It is written down before the life goes on, and whichever
 * run of the project starts next tells it before it takes anything: so work that has landed is never begun again. Telling
 * an end twice changes nothing, so a crash in between does no harm.
 */
export interface Outbox {
  add(telling: Telling): Promise<void>;
  /** Tells what has been owed since before this process; a sentence for each, the first time. Throws while the tracker is away. */
  empty(tracker: Tracker): Promise<readonly string[]>;
}

/** `holder`: the run that had the claim. */
export type Telling = { readonly issueId: string; readonly holder: string } & Ending;
export type Ending =
  | { readonly op: "complete"; readonly commit: string | null; readonly note: string }
  | { readonly op: "fail"; readonly reason: string }
  | { readonly op: "escalate"; readonly reason: string }
  | { readonly op: "release" }
  | { readonly op: "give-back"; readonly was: GivenBack; readonly reason: string }
  /** It waits in a pull request, which has the claim from now on. */
  | { readonly op: "pass"; readonly to: string }
  | { readonly op: "follow-up"; readonly text: FollowUpText };

/** Where tellings are kept, oldest first. */
export interface OutboxRows {
  add(telling: Telling): Promise<void>;
  all(): Promise<readonly { readonly id: number; readonly telling: unknown }[]>;
  drop(id: number): Promise<void>;
}

export function openOutbox(rows: OutboxRows): Outbox {
  let emptied: Promise<readonly string[]> | null = null;
  return {
    add: (telling) => rows.add(telling),
    empty: async (tracker) => {
      if (emptied !== null) {
        await emptied;
        return [];
      }
      emptied = tellAll(rows, tracker);
      return await emptied;
    },
  };
}

async function tellAll(rows: OutboxRows, tracker: Tracker): Promise<readonly string[]> {
  const told: string[] = [];
  for (const { id, telling } of await rows.all()) {
    if (isTelling(telling)) told.push(await tellLate(tracker, telling));
    await rows.drop(id);
  }
  return told;
}

const words = {
  complete: "is done",
  fail: "has failed",
  escalate: "needs a person",
  release: "is free",
  "give-back": "is what it was",
  pass: "is in a pull request",
  "follow-up": "left something to do",
} as const;

/** Whoever holds it by now has the last word: then there is nothing left to tell. */
async function tellLate(tracker: Tracker, telling: Telling): Promise<string> {
  const { issueId, holder, op } = telling;
  try {
    await tellEnding(tracker, telling);
    return `The tracker knows now that ${issueId} ${words[op]}, as run ${holder} could not tell it`;
  } catch (error) {
    if (isTrackerAway(error) || !(error instanceof ExternalError)) throw error;
    return `The tracker was not told that ${issueId} ${words[op]} (run ${holder}): ${error.message}`;
  }
}

export async function tellEnding(tracker: Tracker, { issueId, holder, ...ending }: Telling): Promise<void> {
  switch (ending.op) {
    case "complete":
      return await tracker.complete(issueId, holder, { commit: ending.commit, note: ending.note });
    case "fail":
      return await tracker.fail(issueId, holder, ending.reason);
    case "escalate":
      return await tracker.escalate(issueId, holder, ending.reason);
    case "release":
      return await tracker.release(issueId, holder);
    case "give-back":
      if (tracker.giveBack) return await tracker.giveBack(issueId, holder, ending.was);
      return await tracker[ending.was === "failed" ? "fail" : "escalate"](issueId, holder, ending.reason);
    case "pass":
      return await tracker.pass?.(issueId, { from: holder, to: ending.to });
    case "follow-up":
      return void (await tracker.followUp(issueId, ending.text));
  }
}

/** It could not be asked or told. An answer, such as that somebody else has the issue, is no such thing. */
export function isTrackerAway(error: unknown): boolean {
  return error instanceof ExternalError && error.what === "tracker" && error.retryable;
}

/** What is still to be told, oldest first. */
export async function readOutbox(rows: Pick<OutboxRows, "all">): Promise<Telling[]> {
  return (await rows.all()).flatMap(({ telling }) => (isTelling(telling) ? [telling] : []));
}

/** As `add` has written it. */
function isTelling(value: unknown): value is Telling {
  return typeof value === "object" && value !== null && "op" in value && "issueId" in value && "holder" in value;
}
