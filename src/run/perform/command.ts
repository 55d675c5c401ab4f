import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { CommandEffect } from "../../core/issue/effects.js";
import type { IssueEvent } from "../../core/issue/events.js";
import type { Settled } from "../../durable/types.js";
import { openLandingWorktree } from "../../git/land.js";
import { discardChanges } from "../../git/worktree.js";
import { commandEnvironment } from "../../lib/environment.js";
import { Bug } from "../../lib/errors.js";
import { withLock } from "../../lib/lock.js";
import { digestOf, outputTails, renderTails } from "../../lib/output-digest.js";
import { runShellCommand } from "../../lib/run-command.js";
import { type LifeContext, worktreePath } from "../context.js";
import { landingPath } from "./land.js";
import { slotNumber } from "./slot-number.js";

/** A gate, setup or trigger command in its own folder. It is never attached to: after a crash it is stopped and run again. */
export async function performCommand(
  life: LifeContext,
  effect: CommandEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  const folder = life.run.home.attempt(life.run.runId, life.issueId, effect.folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const cwd = await placeOf(life, effect, signal);
  const run = () =>
    runShellCommand({
      folder,
      command: effect.command,
      cwd,
      env: { ...commandEnvironment(life.run.env, life.run.settings.commands_env), ...variables(life, cwd) },
      timeoutSeconds: effect.timeoutSeconds,
      signal,
    });
  const lock = join(life.run.home.root, "locks", `command-${effect.name}`);
  const result = effect.exclusive ? await withLock(lock, run, { signal }) : await run();
  const discarded = effect.stage === "setup" ? [] : await discardChanges(cwd);
  return {
    event: {
      type: "command-ended",
      key: effect.key,
      exitCode: result.exitCode,
      timedOut: result.timedOut,
      stopped: result.stopped,
      seconds: result.seconds,
      digest: await digestOf(result.stdoutPath, result.stderrPath),
      outputPath: folder,
      tails: renderTails(await outputTails(result.stdoutPath, result.stderrPath)),
      discarded,
    },
  };
}

async function placeOf(life: LifeContext, effect: CommandEffect, signal: AbortSignal): Promise<string> {
  if (effect.place === "issue") return worktreePath(life);
  if (effect.commit === null) throw new Bug(`${effect.key} names no commit to judge`);
  await life.run.landing.acquire(life.machine, signal);
  const path = landingPath(life.run);
  await openLandingWorktree(life.run.mirror, { path, commit: effect.commit, copy: life.run.settings.worktree.copy });
  return path;
}

function variables(life: LifeContext, cwd: string): Record<string, string> {
  return {
    RATCHET_RUN_ID: life.run.runId,
    RATCHET_ISSUE_ID: life.issueId,
    RATCHET_SLOT: String(slotNumber(life.run.home.root, cwd)),
  };
}
