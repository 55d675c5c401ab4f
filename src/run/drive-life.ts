import type { Ledger } from "../core/finding.js";
import type { IssueEffect } from "../core/issue/effects.js";
import type { IssueEvent } from "../core/issue/events.js";
import { isStopping } from "../core/issue/halt.js";
import { type IssuePolicy, issueMachine } from "../core/issue/machine.js";
import { lifePolicy } from "../core/issue/policy.js";
import type { IssueLife, IssueState } from "../core/issue/state.js";
import type { RunReport } from "../core/report.js";
import { drive } from "../durable/drive.js";
import { messageOf } from "../lib/errors.js";
import { attemptFolder, type LifeContext, type LifeNames, type RunContext } from "./context.js";
import { lifePerformer } from "./perform/index.js";
import { Readers } from "./perform/readers.js";
import { IssueGone } from "./prompt.js";
import { isTrackerAway } from "./tracker-outbox.js";

/** Whose life it is: an issue's, or a trigger's of the run. */
export interface Life {
  readonly machine: string;
  /** Empty: the run itself. */
  readonly issueId: string;
  readonly title: string;
  readonly names: LifeNames;
  /** Whose findings they are. */
  readonly ledger: Ledger;
  readonly initial: IssueState;
  readonly trigger?: LifeContext["trigger"];
  readonly item?: LifeContext["item"];
}

/** Drives one life to its end, from wherever its journal stands. */
export async function driveLife(run: RunContext, whose: Life, stop: AbortSignal): Promise<IssueLife> {
  const { machine, issueId, title, names, trigger, item } = whose;
  let current: IssueLife = { state: whose.initial, ledger: whose.ledger };
  const stopping = new AbortController();
  const life: LifeContext = {
    run,
    machine,
    issueId,
    title,
    names,
    ...(trigger ? { trigger } : {}),
    ...(item ? { item } : {}),
    ledger: () => current.ledger,
    state: () => current.state,
    stopping: stopping.signal,
    pending: new Map(),
    live: new Map(),
    harvests: new Set(),
    readers: new Readers(),
  };
  try {
    return await drive<IssueLife, IssueEvent, IssueEffect, RunReport>({
      log: run.journal.life(machine, whose.ledger.issueId),
      initial: current,
      transition: issueMachine(policyOf(life)),
      perform: lifePerformer(life),
      crashed: (effect, error) => ({
        type: "crashed",
        key: effect.key,
        effect: effect.kind,
        message: messageOf(error),
        ...(isTrackerAway(error) ? { trackerAway: true } : {}),
        ...(error instanceof IssueGone && error.isOwn ? { issueGone: true } : {}),
      }),
      now: () => run.clock.now(),
      alongside: () => run.told.stamp(),
      drivenUntil: run.drivenUntil,
      stop,
      onCommit: (state) => {
        current = state;
        if (isStopping(state.state) || isNeedless(state.state)) stopping.abort();
        if (!isAboutToTurn(state.state)) run.slots.dropKept(issueId);
        if (!isAtGate(state.state)) run.commandPlaces.giveBack(machine);
        // Whoever goes back to work on a failed landing lets the next one land meanwhile.
        if (state.state.phase !== "finalizing") run.landing.release(machine);
      },
    });
  } finally {
    run.commandPlaces.giveBack(machine);
    run.landing.release(machine);
  }
}

/** It would be given back as soon as it is claimed. */
function isNeedless({ phase, draining }: IssueState): boolean {
  return phase === "claiming" && draining;
}

/** It starts an agent next, as far as is known. */
function isAboutToTurn({ phase, owed }: IssueState): boolean {
  return phase === "claiming" || phase === "preparing" || owed.some(({ kind }) => kind === "turn");
}

/** It runs a gate's commands; those of session_end delay no other issue's gate, so they have no place. */
function isAtGate({ phase, owed }: IssueState): boolean {
  return (phase === "gating" || phase === "finalizing") && owed.some(({ kind }) => kind === "command");
}

export function policyOf(life: Pick<LifeContext, "run" | "names" | "trigger" | "item">): IssuePolicy {
  const promptPath = (folder: string) => `${attemptFolder(life, folder)}/prompt.md`;
  return lifePolicy(life.run, { promptPath, trigger: life.trigger?.name, item: life.item });
}
