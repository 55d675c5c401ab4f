import { mkdirSync } from "node:fs";
import { relative } from "node:path";
import type { Settled } from "../../durable/types.js";
import { trackedMarkOf } from "../../git/worktree/workspace.js";
import { commandEnvironment } from "../../lib/environment.js";
import { digestOf, firstFailingCheck, outputTails, renderTails } from "../../lib/output-digest.js";
import { shellWord } from "../../lib/quoted.js";
import { type CommandResult, runShellCommand } from "../../lib/run-command.js";
import { isInBranch, type StageCommandEffect } from "../../workflow/machine/effects.js";
import type { StageCommandEnded, ToolFailure, WorkflowEvent } from "../../workflow/machine/events.js";
import { slotNumber } from "../perform/slot-number.js";
import { stageFolder, type WorkflowContext } from "./context.js";
import { expandCommand, toolOf } from "./expansion.js";
import { folderIn, headOf, placeOf } from "./place.js";
import { textOfFile } from "./texts.js";

/** A tool in its own folder. Like every command it is never attached to: after a crash it is stopped and run again. */
export async function performStageCommand(
  context: WorkflowContext,
  effect: StageCommandEffect,
  signal: AbortSignal,
): Promise<Settled<WorkflowEvent>> {
  const folder = stageFolder(context, effect.folder);
  const place = await placeOf(context, effect.workspace);
  const cwd = folderIn(place.path, effect.cwd);
  if (cwd === null) return { event: noSuchFolder(context, effect, folder) };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { command, env } = await expandCommand(context, effect);
  const result = await runShellCommand({
    folder,
    command,
    cwd,
    env: { ...environmentOf(context, effect, place.path), ...env },
    timeoutSeconds: effect.timeoutSeconds,
    signal,
  });
  const way = relative(place.path, cwd);
  const { command: written } = toolOf(context, effect.stage);
  const rerun = way === "" ? written : `cd ${shellWord(way)} && ${written}`;
  const ended = await tell(context, effect, { folder, result, rerun });
  const after = isInBranch(effect) ? await trackedMarkOf(place.path) : null;
  return { event: { ...ended, commit: await headOf(place), ...(after === null ? {} : { tree: { after } }) } };
}

interface Ran {
  readonly folder: string;
  readonly result: CommandResult;
  readonly rerun: string;
}

async function tell(context: WorkflowContext, effect: StageCommandEffect, ran: Ran): Promise<StageCommandEnded> {
  const { redact } = context.run;
  const { exitCode, timedOut, stopped, seconds, stdoutPath, stderrPath } = ran.result;
  const tails = await outputTails(stdoutPath, stderrPath);
  const said = redact(await digestOf(stdoutPath, stderrPath));
  const digest = timedOut ? `timed out after ${effect.timeoutSeconds} s` : said;
  const output = await textOfFile(stdoutPath);
  const failure: ToolFailure | null =
    exitCode === 0
      ? null
      : {
          class: classOf(ran.result),
          digest,
          stdoutTail: redact(tails.stdout),
          stderrTail: redact(tails.stderr),
          firstFailingCheck: await failingCheck(ran.result, redact),
          rerunCommand: redact(ran.rerun),
        };
  return {
    type: "command-ended",
    key: effect.key,
    exitCode,
    timedOut,
    stopped,
    seconds,
    digest,
    outputPath: ran.folder,
    tails: redact(renderTails(tails)),
    discarded: [],
    failure,
    output: output.text,
    ...(output.file === null || output.text.ref ? {} : { outputFile: output.file }),
  };
}

async function failingCheck(result: CommandResult, redact: (text: string) => string): Promise<string | null> {
  const check = await firstFailingCheck(result.stdoutPath, result.stderrPath);
  return check === null ? null : redact(check);
}

/** As `sh` tells it: 127, no such program; above 128, a signal. */
function classOf({ exitCode, timedOut }: CommandResult): ToolFailure["class"] {
  if (timedOut) return "timeout";
  if (exitCode === 127) return "not-found";
  return exitCode === null || exitCode > 128 ? "signal" : "exit";
}

function noSuchFolder(context: WorkflowContext, effect: StageCommandEffect, folder: string): StageCommandEnded {
  const digest = `cwd ${effect.cwd} is no folder inside of the checkout`;
  const failure = { class: "not-found", digest, stdoutTail: "", stderrTail: "", firstFailingCheck: null } as const;
  return {
    type: "command-ended",
    key: effect.key,
    exitCode: null,
    timedOut: false,
    stopped: false,
    seconds: 0,
    digest,
    outputPath: folder,
    tails: digest,
    discarded: [],
    failure: { ...failure, rerunCommand: toolOf(context, effect.stage).command },
    output: { text: "" },
  };
}

function environmentOf(
  { run, issueId }: WorkflowContext,
  effect: StageCommandEffect,
  place: string,
): Record<string, string> {
  return {
    ...commandEnvironment(run.env, run.settings.commands_env),
    RATCHET_RUN_ID: run.runId,
    RATCHET_ISSUE_ID: issueId,
    RATCHET_STAGE_ID: effect.stage,
    RATCHET_ATTEMPT: String(effect.attempt),
    RATCHET_VISIT: String(effect.visit),
    RATCHET_SLOT: String(slotNumber(run.home.root, place)),
  };
}
