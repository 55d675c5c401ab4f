import type { Store } from "../app.js";
import type { WorkItem } from "../core/ports/work-items.js";
import { Refusal } from "../lib/errors.js";
import type { Context } from "./context.js";
import { findBegun, findLiving, inTheMiddle } from "./living.js";

/**
 * What a person must not take out of somebody's hands. A run that lives would go on beside whoever takes its issue up
 * next, in the same worktree, and so would the agent of one whose process is gone; a pull request that is open would go
 * on without its issue. Each refusal names the way that ends it properly. Calling an issue done while a run works on it
 * is fine: the run notices, and nobody takes it up. Leases of shells are anybody's to end.
 */

/** The run that holds it and lives, with what stops its work. */
export async function holdingRun(
  store: Store,
  { id, projectId, status, claimedBy }: WorkItem,
): Promise<{ readonly runId: string; readonly stop: string } | null> {
  if (status !== "claimed" || claimedBy === null) return null;
  const holder = (await store.unfinishedRuns(projectId)).find(({ run }) => run.runId === claimedBy);
  if (!holder?.driverAlive) return null;
  const living = await findLiving(store, projectId, id);
  return { runId: claimedBy, stop: `ratchet stop ${living ? id : claimedBy}` };
}

/** What makes it free for others is not done while a run has it, driven or not. */
export async function refuseHeldByRun(store: Store, item: WorkItem): Promise<void> {
  const held = await holdingRun(store, item);
  if (held === null) return await refuseLeft(store, item);
  throw new Refusal(`${item.id} is being worked on by run ${held.runId}`, {
    code: "held-by-run",
    hint: `${held.stop} ends that properly, then it is free`,
  });
}

/** A run whose process is gone is in the middle of it, whatever the board says. */
export async function refuseLeft(store: Store, { projectId, id }: Pick<WorkItem, "projectId" | "id">): Promise<void> {
  const begun = await findBegun(store, projectId, id);
  if (begun === null || begun.alive) return;
  const { why, hint } = inTheMiddle(begun.runId, id);
  throw new Refusal(why, { code: "held-by-run", hint });
}

/** An issue that waits in an open pull request ends with it, unless a person insists. */
export async function refuseInPullRequest(context: Context, item: WorkItem, hint: Hint): Promise<void> {
  const number = await openPullRequestOf(context, item);
  if (number !== null) throw inPullRequest(item, number, hint);
}

export function inPullRequest(item: WorkItem, number: number, hint: Hint): Refusal {
  return new Refusal(`${item.id} waits for pull request #${number}`, {
    code: "wrong-status",
    hint: hint(number, item),
  });
}
type Hint = (number: number, item: WorkItem) => string;

export const endPullRequest: Hint = (number, { id }) =>
  `merge pull request #${number}, or close it to give the work up; ratchet pr sync ${number} takes that in. ` +
  `Where it is gone for good: ratchet work complete ${id} --force`;

/** The number of the pull request that the issue waits in; null: it is in none, or in one that has ended. */
export async function openPullRequestOf(
  { app }: Context,
  { projectId, status, payload }: WorkItem,
): Promise<number | null> {
  if (payload?.source !== "implement" || payload.pr_number === undefined) return null;
  if (status !== "waiting_for_response") return null;
  const { pr_number: number } = payload;
  // Of another project only its board is known.
  if (projectId !== (await app.project()).id) return number;
  const followed = await (await app.pullRequests((await app.settings({})).settings)).list();
  const found = followed.find(({ pr }) => pr.number === number);
  return found?.state && found.state.phase !== "following" ? null : number;
}
