import type { WorkItem } from "../../core/ports/work-items.js";
import { isReopenable } from "../../core/pull-request/machine.js";
import { isMergeDue, refusalOf } from "../../core/pull-request/merge.js";
import { isFollowed, isLookedAt, type PrIdentity, type PrState } from "../../core/pull-request/state.js";
import { messageOf } from "../../lib/errors.js";
import { pullRequestMachineId } from "../context.js";
import type { FollowContext } from "./context.js";
import { drivePullRequest } from "./drive.js";

/** What a look at one pull request came to. */
export interface Synced {
  readonly number: number;
  /** unchanged: there was nothing to take in. driven: another process follows it, and was told. */
  readonly result: "looked" | "unchanged" | "driven" | "failed";
  /** Why it failed, or what the forge has against merging it. */
  readonly reason: string | null;
}

/** Those that have work of ours in them and have not ended. */
export async function followedPullRequests({
  board,
  projectId,
}: Pick<FollowContext, "board" | "projectId">): Promise<PrIdentity[]> {
  return (await board.inPullRequests(projectId)).flatMap((item) => identityOf(item) ?? []);
}

function identityOf({ id, title, projectId, payload }: WorkItem): PrIdentity | null {
  if (payload?.pr_number === undefined) return null;
  const { pr_number: number, pr_url: url = "", repo = "", branch = "", base_branch: baseBranch = "" } = payload;
  return { number, url, repo, branch, baseBranch, projectId, issueId: id, title };
}

const atOnce = 8;

/** Looks once at each of them, several at a time. */
export async function syncPullRequests(
  follow: FollowContext,
  prs: readonly PrIdentity[],
  signal: AbortSignal,
): Promise<Synced[]> {
  const waiting = [...prs.entries()];
  const results: Synced[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      // Its requests listen on a signal of its own, not all on one.
      results[next[0]] = await syncPullRequest(follow, next[1], { signal: AbortSignal.any([signal]), force: false });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

/**
 * One look, and everything that follows from it. `force`: also where the forge says that nothing has changed. `byHand`: a
 * person wants it, so a merge that was refused is tried again at once.
 */
export async function syncPullRequest(
  follow: FollowContext,
  pr: PrIdentity,
  {
    signal,
    force,
    byHand = false,
  }: { readonly signal: AbortSignal; readonly force: boolean; readonly byHand?: boolean },
): Promise<Synced> {
  const machine = pullRequestMachineId(pr.projectId, pr.number);
  try {
    const before = await follow.state(machine);
    if (before && isOver(before)) return await overAndDone(follow, pr, before);
    if (!force && before && isLongClosed(follow, before) && !(await follow.isTold(machine))) {
      return { number: pr.number, result: "unchanged", reason: null };
    }
    if (!force && before && !(await isWorthALook(follow, { machine, pr, state: before, signal }))) {
      return { number: pr.number, result: "unchanged", reason: whyNotMerged(before) };
    }
    await follow.inbox.send(machine, { name: "look", ...(byHand ? { byHand } : {}) });
    return await lookOnce(follow, pr, { signal, before });
  } catch (error) {
    if (signal.aborted) throw error;
    if (isElsewhere(error)) return { number: pr.number, result: "driven", reason: null };
    return { number: pr.number, result: "failed", reason: messageOf(error) };
  }
}

function whyNotMerged(state: PrState): string | null {
  const refusal = refusalOf(state);
  return refusal && `not merged: ${refusal.reason}`;
}

interface Asked {
  readonly machine: string;
  readonly pr: PrIdentity;
  readonly state: PrState;
  readonly signal: AbortSignal;
}
async function isWorthALook(follow: FollowContext, { machine, pr, state, signal }: Asked): Promise<boolean> {
  if (isMergeDue(state, follow.clock.now())) return true;
  if (state.cursor === null || (await isUnsettled(follow, { machine, pr, state }))) return true;
  return (await follow.forge.poll(pr.number, state.cursor, signal)).type === "changed";
}

/** Something was begun, or told, or decided by a person, and has not been taken in. */
async function isUnsettled(follow: FollowContext, { machine, pr, state }: Omit<Asked, "signal">): Promise<boolean> {
  const { looking, owed, undone, escalated } = state;
  if (looking || owed.length > 0 || undone.length > 0 || (await follow.isTold(machine))) return true;
  const issue = escalated ? await follow.board.get(pr.projectId, pr.issueId) : null;
  return issue !== null && issue.payload?.human_review_required !== true;
}

/** One whose end could not be told yet is not over, nor is one that somebody may open again. */
function isOver(state: PrState): boolean {
  return !isFollowed(state) && state.owed.length === 0 && state.undone.length === 0;
}

/** Asked for by name it is looked at all the same. */
function isLongClosed({ clock }: FollowContext, state: PrState): boolean {
  return state.phase === "closed" && state.undone.length === 0 && !isReopenable(state, clock.now());
}

/** A pull request's life ends once. Work that went into it afterwards, because somebody opened it again, is not followed. */
async function overAndDone({ board }: FollowContext, pr: PrIdentity, { phase }: PrState): Promise<Synced> {
  const issue = await board.get(pr.projectId, pr.issueId);
  if (issue?.status !== "waiting_for_response") return { number: pr.number, result: "unchanged", reason: null };
  const reason = `it was ${phase} before and is not followed again: close it, then ratchet retry ${pr.issueId} opens another`;
  return { number: pr.number, result: "failed", reason };
}

async function lookOnce(
  follow: FollowContext,
  pr: PrIdentity,
  { signal, before }: { readonly signal: AbortSignal; readonly before: PrState | null },
): Promise<Synced> {
  const enough = new AbortController();
  let [failed, unmerged]: [boolean, string | null] = [false, null];
  await drivePullRequest(follow, pr, {
    stop: AbortSignal.any([signal, enough.signal]),
    onIdle: (state) => {
      failed = state.failures > 0 || state.undone.length > 0;
      unmerged = whyNotMerged(state);
      if (isLookedAt(before, state) || !isFollowed(state)) enough.abort();
    },
  });
  signal.throwIfAborted();
  if (!failed) return { number: pr.number, result: "looked", reason: unmerged };
  return { number: pr.number, result: "failed", reason: "not everything could be asked or told; it is tried again" };
}

/** What the items of a run that is over have told: taken in before it says that it is done. */
export async function settlePullRequests(
  follow: FollowContext,
  signal: AbortSignal,
  told: (text: string) => void,
): Promise<void> {
  for (const pr of await followedPullRequests(follow)) {
    const machine = pullRequestMachineId(pr.projectId, pr.number);
    const state = await follow.state(machine);
    if (!state || isOver(state) || (await isUnsettled(follow, { machine, pr, state }))) {
      const { number, result, reason } = await syncPullRequest(follow, pr, { signal, force: true });
      if (result === "failed") told(`pull request #${number}: ${reason}`);
    }
  }
}

/** Follows all of them, and those that come, until it is stopped. */
export interface Follower {
  /** Each that was there at the beginning has been looked at; never rejects. */
  readonly synced: Promise<void>;
  readonly done: Promise<void>;
}

export function followPullRequests(follow: FollowContext, stop: AbortSignal, told: (text: string) => void): Follower {
  const driven = new Map<number, Promise<void>>();
  const take = (pr: PrIdentity): void => {
    if (!driven.has(pr.number)) driven.set(pr.number, followOne(follow, pr, { stop, told }));
  };
  const begin = async (): Promise<void> => {
    const prs = await followedPullRequests(follow);
    for (const { number, result, reason } of await syncPullRequests(follow, prs, stop)) {
      if (result === "failed") told(`pull request #${number}: ${reason}`);
    }
    for (const pr of prs) take(pr);
  };
  const quietly = (error: unknown): void => {
    if (!stop.aborted) told(`pull requests could not be followed: ${messageOf(error)}`);
  };
  const synced = begin().catch(quietly);
  const watch = async (): Promise<void> => {
    await synced;
    while (!stop.aborted) {
      const cursor = await follow.board.cursor();
      for (const pr of await followedPullRequests(follow)) {
        take(pr);
        await tellDecision(follow, pr);
      }
      await follow.board.changed(follow.projectId, cursor, stop);
    }
    await Promise.all(driven.values());
  };
  return { synced, done: watch().catch(quietly) };
}

/** Another process may follow it now and end tomorrow: it is asked for again until it has ended. */
async function followOne(
  follow: FollowContext,
  pr: PrIdentity,
  { stop: outer, told }: { readonly stop: AbortSignal; readonly told: (text: string) => void },
): Promise<void> {
  // Each request and each wait listens for the end: on a signal of its own, not all on one.
  const stop = AbortSignal.any([outer]);
  let said = "";
  while (!stop.aborted) {
    try {
      await drivePullRequest(follow, pr, { stop });
      return;
    } catch (error) {
      if (stop.aborted) return;
      const text = `pull request #${pr.number} is not followed: ${messageOf(error)}`;
      if (!isElsewhere(error) && text !== said) told(text);
      if (!isElsewhere(error)) said = text;
      await pause(follow, askAgainMs, stop);
    }
  }
}
const askAgainMs = 5000;

function isElsewhere(error: unknown): boolean {
  return error instanceof Error && (error.name === "Driven" || error.name === "Fenced");
}

async function pause({ clock }: FollowContext, ms: number, stop: AbortSignal): Promise<void> {
  try {
    await clock.sleep(clock.now() + ms, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

/** A person who has decided says so on the board alone. */
async function tellDecision(follow: FollowContext, pr: PrIdentity): Promise<void> {
  const machine = pullRequestMachineId(pr.projectId, pr.number);
  const state = await follow.state(machine);
  if (!state?.escalated || state.looking || (await follow.isTold(machine))) return;
  if (await isUnsettled(follow, { machine, pr, state })) await follow.inbox.send(machine, { name: "look" });
}
