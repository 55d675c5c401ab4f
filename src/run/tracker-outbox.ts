import { findingsIn, isRunSource } from "../core/follow-up.js";
import type { FollowUpText, GivenBack, Tracker } from "../core/ports/tracker.js";
import { trackerEndings } from "../core/tracker-endings.js";
import { ExternalError } from "../lib/errors.js";

/**
 * What became of an issue and could not be told to its tracker. It is written down before the life goes on, and whichever
 * run of the project starts next tells it before it takes anything: so work that has landed is never begun again. A
 * follow-up that is refused once more stays owed and holds nothing up, and so does a success whose issue somebody else
 * has by now: nobody takes that for new work. Telling an end twice changes nothing, so a crash in between does no harm.
 */
export interface Outbox {
  add(telling: Telling): Promise<void>;
  /** Tells what has been owed since before this process; a sentence for each, the first time. Throws while the tracker is away. */
  empty(tracker: Tracker): Promise<readonly string[]>;
  /** The work on it has succeeded, whatever the tracker says of it. */
  isDone(issueId: string): Promise<boolean>;
  /** This run has made that follow-up, or added to it: it is for a later one. */
  noteFollowUp(id: string): Promise<void>;
  hasMade(id: string): Promise<boolean>;
}

/** `holder`: the run that had the claim. `issueId`: of what a run's own triggers found, the name that it goes by. */
export type Telling = { readonly issueId: string; readonly holder: string } & Ending;
export type Ending =
  | { readonly op: "complete"; readonly commit: string | null; readonly note: string }
  | { readonly op: "fail"; readonly reason: string; readonly resumed?: true }
  | { readonly op: "escalate"; readonly reason: string }
  /**
   * `unsure`: the call that claims it failed, and nobody knows whether there was a claim. `claimed`: it succeeded, and
   * what came after it failed.
   */
  | { readonly op: "release"; readonly unsure?: true; readonly claimed?: true }
  | { readonly op: "give-back"; readonly was: GivenBack; readonly reason: string }
  /** It waits in a pull request, which has the claim from now on. */
  | { readonly op: "pass"; readonly to: string }
  | { readonly op: "follow-up"; readonly text: FollowUpText };

/** One as it is seen from outside of a run. */
export interface OwedTelling {
  readonly tracker: Tracker["kind"];
  readonly projectId: string;
  readonly since: number;
  readonly telling: Telling;
}

/** Where tellings are kept, oldest first. */
export interface OutboxRows {
  add(telling: Telling): Promise<void>;
  all(): Promise<readonly { readonly id: number; readonly telling: unknown }[]>;
  drop(id: number): Promise<void>;
  /** Of the ledger of an issue or a run; what is not open any more stays as it is. */
  waive(finding: { readonly of: string; readonly id: string; readonly reason: string }): Promise<void>;
}

/** The follow-ups that a run has made, whatever the tracker keeps of what they say. */
export interface FollowUpsMade {
  add(id: string): Promise<void>;
  all(): Promise<readonly string[]>;
}

export function openOutbox(rows: OutboxRows, made: FollowUpsMade): Outbox {
  let emptied: Promise<readonly string[]> | null = null;
  return {
    add: (telling) => rows.add(telling),
    empty: async (tracker) => {
      if (emptied !== null) {
        await emptied;
        return [];
      }
      emptied = tellAll({ ...rows, made }, tracker);
      return await emptied;
    },
    isDone: async (issueId) =>
      (await readOutbox(rows)).some((owed) => owed.op === "complete" && owed.issueId === issueId),
    noteFollowUp: (id) => made.add(id),
    hasMade: async (id) => (await made.all()).includes(id),
  };
}

type Rows = OutboxRows & { readonly made: FollowUpsMade };

async function tellAll(rows: Rows, tracker: Tracker): Promise<readonly string[]> {
  const told: string[] = [];
  for (const { id, telling } of await rows.all()) {
    const { said, owed = false } = isTelling(telling) ? await tellLate(rows, tracker, telling) : { said: null };
    if (said !== null) told.push(said);
    if (!owed) await rows.drop(id);
  }
  return told;
}

interface ToldLate {
  /** null: there may never have been anything to tell. */
  readonly said: string | null;
  /** For the next start to tell. */
  readonly owed?: boolean;
}

/** Whoever holds it by now has the last word: then there is nothing left to tell, but that the work is done. */
async function tellLate(rows: Rows, tracker: Tracker, telling: Telling): Promise<ToldLate> {
  const { issueId, holder, op } = telling;
  const what = `${isRunSource(issueId) ? "the run" : issueId} ${trackerEndings[op]}`;
  const untold = `The tracker was not told that ${what} (run ${holder})`;
  try {
    if (op === "follow-up") await tellFollowUp(rows, tracker, telling);
    else await tellEnding(tracker, telling);
    if (op === "release" && telling.unsure) return { said: null };
    const now = op === "release" ? ((await tracker.get(issueId))?.status ?? "gone") : "available";
    if (now !== "available") return { said: `${untold}: it is ${now} by now` };
    return { said: `The tracker knows now that ${what}, as run ${holder} could not tell it` };
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    if (isTrackerAway(error) && op !== "follow-up") throw toldFirst(`${what} (run ${holder})`, error);
    const owed = op === "follow-up" ? isTrackerAway(error) : op === "complete" && (await tracker.get(issueId)) !== null;
    return { said: `${untold}: ${error.message}${owed ? "; the next run tries again" : ""}`, owed };
  }
}

/** Whoever asked for something else is told what stands in its way. */
function toldFirst(what: string, error: ExternalError): ExternalError {
  const { message, hint } = error;
  return new ExternalError("tracker", `the tracker is to be told first that ${what}: ${message}`, {
    retryable: true,
    cause: error,
    ...(hint === null ? {} : { hint }),
  });
}

/** What is tracked now has been open until now: a run's own findings are kept under its id. */
async function tellFollowUp(
  rows: Rows,
  tracker: Tracker,
  { issueId, holder, text }: Extract<Telling, { op: "follow-up" }>,
): Promise<void> {
  const { id: followUp, older } = await tracker.followUp(issueId, text);
  await rows.made.add(followUp);
  const of = isRunSource(issueId) ? holder : issueId;
  for (const id of findingsIn(text.body)) await rows.waive({ of, id, reason: `tracked as ${older[id] ?? followUp}` });
}

export async function tellEnding(
  tracker: Tracker,
  { issueId, holder, ...ending }: Exclude<Telling, { op: "follow-up" }>,
): Promise<void> {
  switch (ending.op) {
    case "complete":
      return await tracker.complete(issueId, holder, { commit: ending.commit, note: ending.note });
    case "fail":
      return await tracker.fail(issueId, holder, ending.reason, { resumed: ending.resumed ?? false });
    case "escalate":
      return await tracker.escalate(issueId, holder, ending.reason);
    case "release":
      return await tracker.release(issueId, holder, { claimed: ending.claimed ?? false });
    case "give-back":
      if (tracker.giveBack) return await tracker.giveBack(issueId, holder, ending.was);
      return await tracker[ending.was === "failed" ? "fail" : "escalate"](issueId, holder, ending.reason);
    case "pass":
      return await tracker.pass?.(issueId, { from: holder, to: ending.to });
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
export function isTelling(value: unknown): value is Telling {
  return typeof value === "object" && value !== null && "op" in value && "issueId" in value && "holder" in value;
}
