import type { ItemStatus } from "../core/ports/tracker.js";
import { nextMergeAt, refusalOf } from "../core/pull-request/merge.js";
import type { MergeObstacle, PrState } from "../core/pull-request/state.js";
import { shellWord } from "./shell-word.js";

/** What an issue in a pull request waits for, nearest first: its own items, then the forge, then people. */
export interface PullRequestWait {
  readonly reason: string;
  /** What to run. */
  readonly next: string;
}

export interface WaitingItem {
  readonly id: string;
  readonly source: string;
  readonly status: ItemStatus;
  readonly claimedBy: string | null;
  readonly failureReason: string | null;
}

interface Waiting {
  readonly number: number;
  /** null: it has not been looked at yet. */
  readonly state: PrState | null;
  /** All items of the pull request. */
  readonly items: readonly WaitingItem[];
  /** Its issue is elsewhere, where items of ours cannot be named. */
  readonly foreign: boolean;
}

export function pullRequestWait({ number, state, items, foreign }: Waiting): PullRequestWait | null {
  const sync = `ratchet pr sync ${number}`;
  for (const item of items) {
    const wait = waitForItem(item, { foreign, sync });
    if (wait !== null) return wait;
  }
  if (state === null) return null;
  const refusal = refusalOf(state);
  if (refusal !== null) {
    const again = new Date(nextMergeAt(refusal)).toISOString();
    return { reason: `the forge does not merge it: ${refusal.reason} (tried again after ${again})`, next: sync };
  }
  const { unmerged = null } = state;
  return unmerged === null ? null : { reason: obstacles[unmerged], next: nexts[unmerged] ?? sync };
}

const names: Readonly<Record<string, string>> = {
  rework: "its rework",
  merge_fix: "its rework",
  code_review: "Ratchet's review",
};

function waitForItem(
  { id, source, status, claimedBy, failureReason }: WaitingItem,
  { foreign, sync }: { readonly foreign: boolean; readonly sync: string },
): PullRequestWait | null {
  const name = names[source];
  if (name === undefined) return null;
  const what = `${name} ${id}`;
  const why = failureReason === null ? "" : `: ${failureReason}`;
  switch (status) {
    case "available":
      return { reason: `${what} is ready, and a run takes it`, next: "ratchet run" };
    case "claimed":
      // Whether its run still lives is a question of its own.
      return { reason: `${what} is claimed by ${claimedBy ?? "somebody"}`, next: `ratchet explain ${shellWord(id)}` };
    case "failed":
      return { reason: `${what} failed${why}`, next: `ratchet run --resume${foreign ? "" : ` ${id}`}` };
    case "blocked":
      return { reason: `${what} is blocked by an operator${why}`, next: `ratchet work unblock ${shellWord(id)}` };
    case "quarantined":
      return { reason: `${what} is quarantined${why}`, next: `ratchet retry ${shellWord(id)}` };
    case "waiting_for_response":
      // Without a reason it is people's to review.
      return failureReason === null ? null : { reason: `${what} needs a person${why}`, next: sync };
    case "completed":
      return null;
  }
}

const obstacles: Record<MergeObstacle, string> = {
  "not-fetched": "not everything could be asked of the forge",
  "needs-person": "a person has decided, which has not been taken in yet",
  rework: "its rework has not been taken in yet",
  feedback: "there is feedback that waits for its rework",
  "untrusted-author": "its author is not trusted, so Ratchet never merges it: a person has to",
  draft: "it is a draft: somebody has to mark it as ready for review",
  conflict: "it conflicts with its base",
  "checks-failed": "a required check failed on its newest commit",
  "checks-pending": "a required check has not ended on its newest commit",
  "changes-requested": "changes are requested, and whoever did so has not approved it since",
  "review-due": "Ratchet's reviewer has not passed its newest commit",
  "stale-approval": "it was approved before its newest commit was pushed: it has to be approved again",
  "no-approval": "nobody who is trusted has approved it",
  "left-to-people": "it is approved, and a person merges it (pull_requests.merge is none)",
  unknown: "the forge has not said yet whether it can be merged",
  "checks-may-come": "no check has shown up on its newest commit yet: it is merged about a minute after the push",
};
const nexts: Partial<Record<MergeObstacle, string>> = { feedback: "ratchet run" };
