import { reworkItemId } from "../core/board/item-ids.js";
import type { Delivery, PrIdentity, PrState } from "../core/pull-request/state.js";
import { Refusal } from "../lib/errors.js";
import { pullRequestMachineId } from "../run/context.js";
import type { FollowContext } from "../run/pull-requests/context.js";
import { syncPullRequest } from "../run/pull-requests/follow.js";

export interface WantedRework {
  /** null: the next one, or the one that is under way. */
  readonly cycle: number | null;
  readonly feedback: string | null;
}

export interface AskedRework {
  /** The id of the cycle's item, the same however often it is asked for; null: a person decides instead. */
  readonly item: string | null;
  readonly issueId: string;
  /** The words that were given have not gone along with it: they are kept for the cycle after it. */
  readonly kept: boolean;
}

export async function askForRework(context: FollowContext, pr: PrIdentity, wanted: WantedRework): Promise<AskedRework> {
  const done = await saidBefore(context, pr, wanted);
  if (done !== null) return { item: done, issueId: pr.issueId, kept: false };
  const state = await tell(context, pr, wanted);
  const item = await itemOf(context, pr, { wanted, state });
  const isKept = ({ words, status }: Delivery) => words === wanted.feedback && status === "waiting";
  return { item, issueId: pr.issueId, kept: Object.values(state.deliveries).some(isKept) };
}

/** Words for a cycle that is over reach nobody, unless it had them. Null: it is not over, or there are none. */
async function saidBefore(context: FollowContext, pr: PrIdentity, wanted: WantedRework): Promise<string | null> {
  if (wanted.feedback === null) return null;
  const state = await context.state(pullRequestMachineId(pr.projectId, pr.number));
  const hasEnded = state !== null && state.phase !== "following";
  if (!hasEnded && wanted.cycle === null) return null;
  const id = reworkItemId({ projectId: pr.projectId, prNumber: pr.number }, wanted.cycle ?? state?.cycle ?? 0);
  const item = await context.board.get(pr.projectId, id);
  if (!hasEnded && item?.status !== "completed") return null;
  const { payload } = item ?? {};
  const words = payload?.source === "rework" ? payload.review_feedback : "";
  if (item !== null && words.includes(context.redact(wanted.feedback))) return id;
  if (hasEnded)
    throw new Refusal(`pull request #${pr.number} is ${state.phase}: nobody works on it`, { code: "not-due" });
  throw new Refusal(`cycle ${wanted.cycle} is completed: your words would reach nobody`, {
    code: "not-due",
    hint: "without --cycle they go along with the next one",
  });
}

async function itemOf(
  context: FollowContext,
  pr: PrIdentity,
  { wanted, state }: { readonly wanted: WantedRework; readonly state: PrState },
): Promise<string | null> {
  const cycle = wanted.cycle ?? (state.escalated ? 0 : state.cycle);
  if (cycle > state.cycle && state.working !== null && !state.escalated) {
    throw new Refusal(`cycle ${cycle} is not due: cycle ${state.cycle} is under way`, { code: "not-due" });
  }
  if (cycle === 0 || cycle > state.cycle) return null;
  const id = reworkItemId({ projectId: pr.projectId, prNumber: pr.number }, cycle);
  return (await context.board.get(pr.projectId, id))?.id ?? null;
}

/** One that has ended takes nothing in any more: what it made is all there is. */
async function tell(context: FollowContext, pr: PrIdentity, wanted: WantedRework): Promise<PrState> {
  const machine = pullRequestMachineId(pr.projectId, pr.number);
  const before = await context.state(machine);
  if (before && before.phase !== "following") return before;
  await context.inbox.send(machine, { name: "rework", ...wanted });
  const { result, reason } = await syncPullRequest(context, pr, { signal: new AbortController().signal, force: true });
  if (result === "failed") throw new Refusal(reason ?? "the forge could not be asked", { code: "forge" });
  return await stateOnceTold(context, machine);
}

const answerMs = 60_000;

/** What the machine has made of what it was told: another process may be the one that drives it. */
async function stateOnceTold({ isTold, state, clock }: FollowContext, machine: string): Promise<PrState> {
  for (const until = clock.now() + answerMs; clock.now() < until; await clock.sleep(clock.now() + 200)) {
    // In this order: once the signal is gone, the state has it.
    const now = (await isTold(machine)) ? null : await state(machine);
    if (now && !now.looking && now.owed.length === 0) return now;
  }
  throw new Refusal("whoever follows the pull request has not answered yet", {
    code: "forge",
    hint: "ratchet pr list tells what became of it",
  });
}
