import type { PrEffect } from "../../core/pull-request/effects.js";
import type { PrEvent } from "../../core/pull-request/events.js";
import { pullRequestMachine } from "../../core/pull-request/machine.js";
import { newPullRequest, type PrIdentity, type PrLife, type PrState } from "../../core/pull-request/state.js";
import type { RunReport } from "../../core/report.js";
import { drive } from "../../durable/drive.js";
import { messageOf } from "../../lib/errors.js";
import { pullRequestMachineId } from "../context.js";
import type { FollowContext, PrContext } from "./context.js";
import { pullRequestPerformer } from "./perform.js";

/** Leads one pull request's machine on, until it has ended or `stop` is aborted. `onIdle`: nothing is to be done until something happens. */
export async function drivePullRequest(
  follow: FollowContext,
  pr: PrIdentity,
  { stop, onIdle }: { readonly stop: AbortSignal; readonly onIdle?: (state: PrState) => void },
): Promise<PrLife> {
  const machine = pullRequestMachineId(pr.projectId, pr.number);
  let life: PrLife = { state: newPullRequest(""), ledger: await follow.ledger(pr.issueId) };
  const context: PrContext = { ...follow, pr, machine, life: () => life };
  const log = follow.journal(machine, pr.issueId);
  let opened = false;
  const running = new Set<Promise<unknown>>();
  const begin = pullRequestPerformer(context);
  const driving = drive<PrLife, PrEvent, PrEffect, RunReport>({
    log: {
      open: async () => {
        const row = await log.open();
        opened = true;
        return row;
      },
      commit: (step) => log.commit(step),
    },
    initial: life,
    transition: pullRequestMachine({ pr, settings: follow.settings.pull_requests }),
    perform: (effect, how) => {
      const task = begin(effect, how);
      const forget = () => running.delete(task);
      running.add(task);
      task.then(forget, forget);
      return task;
    },
    crashed: (effect, error) => ({ type: "crashed", key: effect.key, effect: effect.kind, message: messageOf(error) }),
    now: () => follow.clock.now(),
    stop,
    onCommit: (next) => {
      life = next;
      if (isIdle(next.state)) onIdle?.(next.state);
    },
  });
  return await driving.finally(async () => {
    // What is being posted is still owed: whoever took it up meanwhile would not find it yet, and post it again. Posts
    // end soon after the stop; what else is under way may be done twice, and is not waited for.
    await atMost(lastWordsMs, Promise.allSettled(running));
    // Between two looks nobody has to be there: a process that lives on does not keep it.
    if (opened) await follow.letGo(machine);
  });
}

const lastWordsMs = 1000;

async function atMost(ms: number, task: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([task, late]);
  clearTimeout(timer);
}

function isIdle(state: PrState): boolean {
  return !state.looking && state.owed.length === 0;
}
