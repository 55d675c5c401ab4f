import { pullRequestSources } from "../core/board/payload.js";
import type { ItemStatus } from "../core/ports/tracker.js";
import type { WorkItem } from "../core/ports/work-items.js";
import { shellWord } from "./shell-word.js";

/**
 * How an issue that is left stands: as on the board, in a pull request, where nobody has to do anything about it, or ready but
 * without any work that could be checked.
 */
export type Left = ItemStatus | "in-pull-request" | "untouched";

/** Why an issue that is not done is not taken, and what helps; in the order in which a person would look. */
const waiting: readonly (readonly [Left, (count: number) => string])[] = [
  ["untouched", untouchedWords],
  ["failed", (count) => `${count} failed (ratchet run --resume)`],
  ["waiting_for_response", (count) => `${count} ${count === 1 ? "waits" : "wait"} for a person (ratchet retry <id>)`],
  ["in-pull-request", inPullRequests],
  ["quarantined", (count) => `${count} quarantined (ratchet retry <id>)`],
  ["blocked", (count) => `${count} blocked (ratchet work unblock <id>)`],
  ["claimed", (count) => `${count} claimed (ratchet status)`],
  ["available", (count) => `${count} not ready yet (ratchet explain <id>)`],
];

/** What a run that can begin no issue has: epics that are due it completes, and that may make issues ready. */
export function readyWords(dueEpics: readonly string[]): string {
  if (dueEpics.length === 0) return "nothing is ready";
  return `nothing but ${dueEpics.length === 1 ? "epic" : "epics"} ${dueEpics.join(", ")} is ready`;
}

/** What is left where no issue is ready; null: nothing is. */
export function waitingLine(statuses: readonly Left[], dueEpics: readonly string[] = []): string | null {
  const words = leftWords((status) => statuses.filter((one) => one === status).length);
  return words === null ? null : `${readyWords(dueEpics)}: ${words}`;
}

/** How many are left as what, and what helps; null: none. */
export function leftWords(countOf: (status: Left) => number): string | null {
  const parts = waiting.flatMap(([status, say]) => (countOf(status) === 0 ? [] : [say(countOf(status))]));
  return parts.length === 0 ? null : parts.join(", ");
}

/** As the board has an item. Of a pull request and its items one waits: the issue. */
export function leftAs({ source, status, payload }: Pick<WorkItem, "source" | "status" | "payload">): Left[] {
  if (status !== "waiting_for_response") return [status];
  if (pullRequestSources.includes(source)) return [];
  return [payload?.pr_number !== undefined && !payload.human_review_required ? "in-pull-request" : status];
}

/** Epics that no run will ever complete: there is nothing in them to be done. null: none. */
export function emptyEpicsLine(epics: readonly string[]): string | null {
  const [first] = epics;
  if (first === undefined) return null;
  const [which, them, are] =
    epics.length === 1 ? [`epic ${first} has`, "it", "it is"] : [`epics ${epics.join(", ")} have`, "them", "they are"];
  return `${which} no issues, so no run completes ${them} or an epic that ${are} in (ratchet explain ${shellWord(first)})`;
}

/** Of issues that only a check was wanted of. */
export function untouchedWords(count: number): string {
  return `${count} that nobody has worked on yet (ratchet run --resume)`;
}

function inPullRequests(count: number): string {
  const where = count === 1 ? "1 waits for its pull request" : `${count} wait for their pull requests`;
  return `${where} (ratchet pr list)`;
}
