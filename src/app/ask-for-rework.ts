import { reworkItemId } from "../core/board/item-ids.js";
import type { PrIdentity, PrState } from "../core/pull-request/state.js";
import { Refusal } from "../lib/errors.js";
import { pullRequestMachineId } from "../run/context.js";
import type { FollowContext } from "../run/pull-requests/context.js";
import { syncPullRequest } from "../run/pull-requests/follow.js";

export interface WantedRework {
  /** null: the next one, or the one that is under way. */
  readonly cycle: number | null;
  readonly feedback: string | null;
}

/** The id of the cycle's item, the same however often it is asked for; null: a person decides instead. */
export async function askForRework(
  context: FollowContext,
  pr: PrIdentity,
  wanted: WantedRework,
): Promise<string | null> {
  const state = await tell(context, pr, wanted);
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
