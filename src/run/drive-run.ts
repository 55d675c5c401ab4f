import type { RunReport } from "../core/report.js";
import type { RunEffect, RunEvent } from "../core/run/effects.js";
import { runMachine } from "../core/run/machine.js";
import { runPolicy } from "../core/run/policy.js";
import { newRun, type RunState } from "../core/run/state.js";
import { endingWord } from "../core/run/step.js";
import { drive } from "../durable/drive.js";
import type { Settled } from "../durable/types.js";
import { tipOf } from "../git/mirror/mirror.js";
import { catchUpTarget } from "../git/users-branch/follow.js";
import { ExternalError, messageOf } from "../lib/errors.js";
import { askedFor } from "./asked.js";
import { issueMachineId, type RunContext, runMachineId, triggerMachineId } from "./context.js";
import { driveIssue } from "./drive-issue.js";
import { driveTrigger } from "./drive-trigger.js";
import { performBoard } from "./perform/board.js";
import { performEpic, performEpics } from "./perform/epics.js";
import { performNamed } from "./perform/named.js";
import { performPick } from "./perform/pick.js";
import { performTimer } from "./perform/timer.js";
import { parseRunSignal, performWait } from "./perform/wait.js";

/**
 * Drives a run, and in it every life it starts, to its end. `stop` aborted: it stays unfinished, as after a crash.
 * `found`: how the user's repository was found when this process began, such as a branch that is behind, told once.
 * `opened`: this process drives it now.
 */
export async function driveRun(
  run: RunContext,
  stop: AbortSignal,
  { found, opened }: { readonly found: readonly string[]; readonly opened: () => void },
): Promise<RunState> {
  const machine = runMachineId(run.runId);
  const transition = runMachine(runPolicy(run.settings, run.options));
  const stopping = new AbortController();
  let isOpened = false;
  return await drive<RunState, RunEvent, RunEffect, RunReport>({
    log: run.journal.run(machine),
    initial: newRun(),
    transition: found.length === 0 ? transition : tellFound(transition, found),
    perform: (effect, { signal }) =>
      askedFor(
        run,
        { teller: { machine, key: effect.key }, signal, stopping: stopping.signal, patienceMs: 0 },
        async (asked) => await perform(asked, effect, signal),
      ),
    crashed: (effect, error) => ({
      type: "crashed",
      key: effect.key,
      effect: effect.kind,
      message: messageOf(error),
      external: error instanceof ExternalError,
    }),
    now: () => run.clock.now(),
    alongside: () => run.told.stamp(),
    drivenUntil: run.drivenUntil,
    stop,
    onCommit: (state) => {
      if (state.stopping) stopping.abort();
      const word = endingWord(state);
      if (word !== null) run.told.hear(word);
      if (isOpened) return;
      isOpened = true;
      expectLives(run, state);
      opened();
    },
  });
}

/** Lives that were begun before this process have their places before anything new is picked. */
function expectLives({ slots }: RunContext, { children, triggers }: RunState): void {
  for (const { issueId } of children) slots.expect(issueId);
  if (triggers?.running) slots.expect(runItself);
}
/** As the lives of its triggers call the issue that they have not. */
const runItself = "";

/** Only a report: the machine's state does not depend on what a repository of somebody's looked like. */
function tellFound(transition: ReturnType<typeof runMachine>, found: readonly string[]): ReturnType<typeof runMachine> {
  return (state, event) => {
    const next = transition(state, event);
    const begins = event.type === "prepared" || (event.type === "resumed" && state.phase !== "preparing");
    if (!begins) return next;
    const told = found.map((text) => ({ type: "log", level: "warn", text }) as const);
    return { ...next, reports: [...(next.reports ?? []), ...told] };
  };
}

/** `signal` is aborted with the run's own stop too, so lives end with it. */
async function perform(run: RunContext, effect: RunEffect, signal: AbortSignal): Promise<Settled<RunEvent>> {
  switch (effect.kind) {
    case "prepare":
      return { event: await prepare(run, effect.key) };
    case "pick":
      return await performPick(run, effect, signal);
    case "board":
      return await performBoard(run, effect, signal);
    case "child":
      return { event: await child(run, effect, signal) };
    case "trigger":
      return { event: await trigger(run, effect, signal) };
    case "epic":
      return await performEpic(run, effect);
    case "epics":
      return await performEpics(run, effect);
    case "named":
      return await performNamed(run, effect);
    case "follow":
      return { event: await follow(run, effect.key) };
    case "tell": {
      const { issueId, life, trigger } = effect;
      const { runId } = run;
      const machine = trigger ? triggerMachineId(runId, trigger, life) : issueMachineId(runId, issueId, life);
      await run.inbox.send(machine, {
        name: effect.signal,
        ...(effect.reason === undefined ? {} : { reason: effect.reason }),
      });
      return { event: { type: "told", key: effect.key } };
    }
    case "wait":
      return await performWait(
        { inbox: run.inbox, machine: runMachineId(run.runId), parse: parseRunSignal },
        effect,
        signal,
      );
    case "timer":
      return await performTimer(run.clock, effect, signal);
  }
}

async function prepare(run: RunContext, key: string): Promise<RunEvent> {
  const tip = await tipOf(run.mirror, run.target);
  if (tip.type === "missing") throw new ExternalError("git", tip.reason);
  const { target, projectId, repoPath } = run;
  return { type: "prepared", key, target, tip: tip.sha, projectId, repoPath };
}

async function follow({ mirror, target }: RunContext, key: string): Promise<RunEvent> {
  const { behind, waits = null } = await catchUpTarget(mirror, target);
  return { type: "followed", key, target, behind: behind ?? waits };
}

async function child(
  run: RunContext,
  effect: Extract<RunEffect, { readonly kind: "child" }>,
  stop: AbortSignal,
): Promise<RunEvent> {
  const { issueId } = effect.start;
  try {
    const { state } = await driveIssue(run, effect.start, stop);
    stop.throwIfAborted();
    return {
      type: "child-ended",
      key: effect.key,
      issueId,
      status: state.ending?.status ?? "interrupted",
      commit: state.ending?.commit ?? null,
      trackerOwed: state.trackerOwed,
      abort: state.abortRun,
      ...(state.landing.behind ? { behind: true } : {}),
    };
  } finally {
    run.slots.dropKept(issueId);
  }
}

async function trigger(
  run: RunContext,
  effect: Extract<RunEffect, { readonly kind: "trigger" }>,
  stop: AbortSignal,
): Promise<RunEvent> {
  try {
    return { ...(await driveTrigger(run, effect.start, stop)), key: effect.key };
  } finally {
    run.slots.dropKept(runItself);
  }
}
