import type { IssueEffect } from "../../core/issue/effects.js";
import type { IssueEvent } from "../../core/issue/events.js";
import type { Perform, Settled } from "../../durable/types.js";
import { askedFor } from "../asked.js";
import { attemptFolder, type LifeContext } from "../context.js";
import { endLeftoverCommands } from "../leftovers.js";
import { performCommand } from "./command.js";
import { performDossier } from "./dossier.js";
import { performLand } from "./land.js";
import { performPullRequest } from "./pull-request.js";
import { performPush } from "./push.js";
import { performStop } from "./stop.js";
import { performTimer } from "./timer.js";
import { performTracker } from "./tracker.js";
import { performTurn } from "./turn.js";
import { parseIssueSignal, performWait } from "./wait.js";
import { performWorktree } from "./worktree.js";

type Performer<K extends IssueEffect["kind"]> = (
  life: LifeContext,
  effect: Extract<IssueEffect, { readonly kind: K }>,
  signal: AbortSignal,
) => Promise<Settled<IssueEvent>>;

/** One performer per effect kind: the compiler finds the missing one. */
const performers: { readonly [K in IssueEffect["kind"]]: Performer<K> } = {
  turn: performTurn,
  stop: performStop,
  command: performCommand,
  worktree: performWorktree,
  land: performLand,
  push: performPush,
  "pull-request": performPullRequest,
  tracker: performTracker,
  dossier: performDossier,
  timer: (life, effect, signal) => performTimer(life.run.clock, effect, signal),
  wait: (life, effect, signal) =>
    performWait({ inbox: life.run.inbox, machine: life.machine, parse: parseIssueSignal }, effect, signal),
};

export function lifePerformer(life: LifeContext): Perform<IssueEvent, IssueEffect> {
  let alone: Promise<void> | null = null;
  return async (effect, { signal }) => {
    alone ??= endLeftoverCommands(attemptFolder(life, ""));
    await alone;
    const perform = performers[effect.kind] as (
      life: LifeContext,
      effect: IssueEffect,
      signal: AbortSignal,
    ) => Promise<Settled<IssueEvent>>;
    const { machine, stopping } = life;
    const asking = { teller: { machine, key: effect.key }, signal, stopping, patienceMs: patienceMs(effect) };
    return await askedFor(life.run, asking, (run) => perform({ ...life, run }, effect, signal));
  };
}

/** What became of an issue is worth a while after a stop; whatever else is asked nobody needs any more. */
function patienceMs(effect: IssueEffect): number {
  return effect.kind === "tracker" && effect.op !== "claim" ? 10_000 : 0;
}
