import { join } from "node:path";
import type { CommandEffect } from "../../core/issue/effects.js";
import type { CommandEnded, CommandPlace, IssueEvent } from "../../core/issue/events.js";
import type { Settled } from "../../durable/types.js";
import { gitDirFor, markSetUp, wasSetUp } from "../../git/checkout/checkout.js";
import { openLandingWorktree } from "../../git/landing/land.js";
import { keepIndex } from "../../git/worktree/kept-index.js";
import { discardChanges } from "../../git/worktree/worktree.js";
import { commandEnvironment } from "../../lib/environment.js";
import { Bug } from "../../lib/errors.js";
import { isMissing } from "../../lib/files.js";
import { withLock } from "../../lib/lock.js";
import { digestOf, outputTails, renderTails } from "../../lib/output-digest.js";
import { type CommandResult, isCommandRunning, runShellCommand, wasBegun } from "../../lib/run-command.js";
import { attemptFolder, type LifeContext, worktreePath } from "../context.js";
import { tellRemade } from "../remade.js";
import { landingPath } from "./land.js";
import { slotNumber } from "./slot-number.js";
import { openAt } from "./worktree.js";

/** A gate, setup or trigger command in its own folder. It is never attached to: after a crash it is stopped and run again. */
export async function performCommand(
  life: LifeContext,
  effect: CommandEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  const folder = attemptFolder(life, effect.folder);
  if (effect.place === "issue") {
    return { event: await runInWorktree(life, effect, { folder, cwd: worktreePath(life), signal }) };
  }
  if (effect.commit === null) throw new Bug(`${effect.key} names no commit to judge`);
  await life.run.landing.acquire(life.machine, signal);
  const cwd = landingPath(life.run);
  await openLandingWorktree(life.run.mirror, {
    path: cwd,
    commit: effect.commit,
    copy: life.run.settings.worktree.copy,
  });
  const unready = await setUpLanding(life, effect, { folder, cwd, signal });
  return { event: unready ?? (await runHere(life, effect, { folder, cwd, signal })) };
}

interface Place {
  readonly folder: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

async function runInWorktree(life: LifeContext, effect: CommandEffect, place: Place): Promise<CommandEnded> {
  const ended = await runHere(life, effect, place);
  if (effect.stage !== "setup") return { ...ended, ...(await tellRemade(life)) };
  if (hasSetUp(life, ended)) markSetUp({ gitDir: gitDirFor(life.run.mirror, place.cwd) });
  return ended;
}

function hasSetUp({ run }: LifeContext, { exitCode }: CommandEnded): boolean {
  return exitCode === 0 || (run.settings.commands.setup?.allow_fail ?? false);
}

/** `setup` runs once per new worktree, the landing one included; null: nothing is in the way of the command. */
async function setUpLanding(life: LifeContext, effect: CommandEffect, place: Place): Promise<CommandEnded | null> {
  const { setup } = life.run.settings.commands;
  const gitDir = gitDirFor(life.run.mirror, place.cwd);
  if (!setup || (await wasSetUp({ gitDir }))) return null;
  const run = {
    ...effect,
    stage: "setup",
    name: "setup",
    command: setup.command,
    timeoutSeconds: setup.timeout,
    commit: null,
  } as const;
  const ended = await runHere(life, run, { ...place, folder: join(place.folder, "setup") });
  if (!hasSetUp(life, ended)) return { ...ended, digest: `setup: ${ended.digest}` };
  markSetUp({ gitDir });
  return null;
}

async function runHere(
  life: LifeContext,
  effect: CommandEffect,
  { folder, cwd, signal }: Place,
): Promise<CommandEnded> {
  // Ratchet died while it ran, and it has been ended since: what it had changed by then is not judged.
  if (effect.cutShort || wasBegun(folder)) await putBack(effect, cwd);
  keepIndex(gitDirFor(life.run.mirror, cwd), effect.commit);
  const run = () =>
    runShellCommand({
      folder,
      command: effect.command,
      cwd,
      env: {
        ...commandEnvironment(life.run.env, life.run.settings.commands_env),
        ...variables(life, effect.stage, cwd),
      },
      timeoutSeconds: effect.timeoutSeconds,
      signal,
    });
  const result = await runInTurn(life, effect, { run, signal });
  const isGone = isMissing(cwd);
  const [digest, tails, discarded] = await Promise.all([
    digestOf(result.stdoutPath, result.stderrPath),
    outputTails(result.stdoutPath, result.stderrPath),
    putBack(effect, cwd),
  ]);
  // What no commit has comes back with setup, and with this.
  if (isGone && effect.place === "issue") await openAt(life, life.state().baseSha);
  return {
    type: "command-ended",
    key: effect.key,
    exitCode: result.exitCode,
    timedOut: result.timedOut,
    stopped: result.stopped,
    seconds: result.seconds,
    digest: life.run.redact(digest),
    outputPath: folder,
    tails: life.run.redact(renderTails(tails)),
    discarded: discarded.map(life.run.redact),
  };
}

/**
 * The next one judges the same commit: what this one changed goes, its own commits too. What the first setup makes is for those
 * after it, and in the middle of a life what git ignores of that.
 */
async function putBack({ stage, commit }: CommandEffect, cwd: string): Promise<readonly string[]> {
  return stage === "setup" && commit === null ? [] : await discardChanges(cwd, commit);
}

interface Ready {
  readonly run: () => Promise<CommandResult>;
  readonly signal: AbortSignal;
}

/** One that is stopped while it waits for its turn runs no more: its folder says so. */
async function runInTurn(life: LifeContext, effect: CommandEffect, { run, signal }: Ready): Promise<CommandResult> {
  const pending = new AbortController();
  life.pending.set(effect.folder, pending);
  try {
    return await runAtPlace(life, effect, { run, signal: AbortSignal.any([signal, pending.signal]) });
  } catch (error) {
    if (!pending.signal.aborted) throw error;
    return await run();
  } finally {
    life.pending.delete(effect.folder);
  }
}

/** Gates have places. An exclusive command waits for the others first, and keeps no place from anybody meanwhile. */
async function runAtPlace(life: LifeContext, effect: CommandEffect, { run, signal }: Ready): Promise<CommandResult> {
  const { stage, name, exclusive } = effect;
  const { machine: holder } = life;
  const { commandPlaces, home } = life.run;
  const placed = () =>
    stage === "gate" || stage === "landing"
      ? commandPlaces.use({ holder, goesFirst: stage === "landing", signal }, run)
      : run();
  if (!exclusive) return await placed();
  commandPlaces.giveBack(holder);
  // That of a killed Ratchet goes on for a while, and is ended by whoever runs it again.
  const word = attemptFolder(life, effect.folder);
  const isGoingOn = (other: string) => other !== word && isCommandRunning(other);
  const { onWait, taken } = tellOfTurn(life, effect);
  const inTurn = async () => {
    await taken();
    return await placed();
  };
  return await withLock(home.commandLock(name), inTurn, { signal, onWait, outlives: { word, isGoingOn } });
}

/** The clock of a trigger does not count the time in which its command waits for its turn. */
function tellOfTurn({ run, machine }: LifeContext, { key, stage }: CommandEffect) {
  const isTimed = stage !== "gate" && stage !== "landing" && stage !== "setup";
  let isTold = false;
  const tell = async (has: boolean) => {
    isTold = true;
    await run.inbox.send(machine, { name: "place", key, has } satisfies CommandPlace);
  };
  return {
    onWait: async () => (isTimed ? await tell(false) : undefined),
    taken: async () => (isTold ? await tell(true) : undefined),
  };
}

function variables(life: LifeContext, stage: string, cwd: string): Record<string, string> {
  return {
    RATCHET_RUN_ID: life.run.runId,
    RATCHET_ISSUE_ID: life.issueId,
    RATCHET_STAGE_ID: stage,
    RATCHET_SLOT: String(slotNumber(life.run.home.root, cwd)),
  };
}
