import { join } from "node:path";
import type { Usage } from "../../core/issue/events.js";
import type { Agent, Reviewer, Turn } from "../../core/ports/agent.js";
import type { Settled } from "../../durable/types.js";
import { markOf, trackedMarkOf } from "../../git/worktree/workspace.js";
import { exists, readOptional, writeDurably } from "../../lib/files.js";
import { findProgram } from "../../lib/process/find.js";
import { readWritten, Unreadable } from "../../lib/program-files.js";
import { isInBranch, type StageTurnEffect } from "../../workflow/machine/effects.js";
import type { StageTurnEnded, WorkflowEvent } from "../../workflow/machine/events.js";
import { runMachineId } from "../context.js";
import { type ProgramEnded, performProgram } from "../perform/program.js";
import type { ProgramTurn } from "../perform/program-turn.js";
import { settleTold } from "../perform/settle-told.js";
import { filesOf } from "../perform/turn-files.js";
import { temporaryFolderOf } from "../temporary.js";
import { type Checkout, stageFolder, type WorkflowContext } from "./context.js";
import { headOf, placeOf } from "./place.js";
import { renderStagePrompt } from "./prompt.js";
import { readResult, resultKeys } from "./result.js";
import { issueBudget, runBudget } from "./spending.js";
import { joinStatus, redactStatus, SpokenStatus } from "./spoken.js";
import { digestOfText, nothing, textOfLines, withoutSecrets, withRemarks } from "./texts.js";

/** How the place stood before the turn: a turn that says nothing is judged by what it did. */
const markFile = "before";

/** How its tracked files stood, where others may be at work beside it. */
const trackedFile = "before-tracked";

/** A turn of a stage: the same program in a folder as an issue's, told of and read as a stage's. */
export async function performStageTurn(
  context: WorkflowContext,
  effect: StageTurnEffect,
  signal: AbortSignal,
): Promise<Settled<WorkflowEvent>> {
  const over = usedUp(context);
  if (over !== null && findProgram(stageFolder(context, effect.folder)).state === "none") {
    return { event: notBegun(effect, over) };
  }
  const agent = await context.run.agent(effect.model);
  const place = await placeOf(context, effect.workspace);
  const turn = programTurn(context, effect, { agent, place });
  const ended = await performProgram(context.run, turn, {
    signal,
    settle: (end) => {
      // Before its place is given on: whoever gets it asks what is left.
      if (end.reading.usage) isOver(context, effect.key, end.reading.usage);
      return settle(effect, { end, agent, place, turn, redact: context.run.redact });
    },
  });
  return { event: await charge(context, ended) };
}

function usedUp(context: WorkflowContext): string | null {
  return runBudget(context.run) ?? issueBudget(context);
}

/** What is used up pays for no further turn. */
function notBegun({ key }: StageTurnEffect, over: string): StageTurnEnded {
  const told = { sessionId: null, usage: null, seconds: 0, until: 0, reply: nothing.text, status: null };
  return { type: "turn-ended", key, outcome: { type: "stopped" }, ...told, runBudget: over };
}

interface By {
  readonly agent: Agent;
  readonly place: Checkout;
}

function programTurn(context: WorkflowContext, effect: StageTurnEffect, by: By): ProgramTurn {
  const { run } = context;
  const folder = stageFolder(context, effect.folder);
  const temporary = temporaryFolderOf(by.place.path, run.env);
  return {
    key: effect.key,
    folder,
    name: effect.folder,
    program: by.agent,
    turn: turnOf(context, effect, { ...by, folder, temporary }),
    place: { issueId: context.issueId, turn: "later" },
    until: effect.until,
    timeoutMs: effect.timeoutMs ?? run.settings.timeout_minutes * 60_000,
    idleSeconds: run.settings.idle_timeout_seconds,
    temporary,
    note: effect,
    prompt: async () => {
      await writeDurably(join(folder, markFile), (await markOf(by.place.path)) ?? "");
      if (isInBranch(effect)) await writeDurably(join(folder, trackedFile), (await trackedMarkOf(by.place.path)) ?? "");
      return await renderStagePrompt(context, effect, folder);
    },
    onSession: (id) => run.inbox.send(context.machine.id, { name: "session", turn: effect.key, id }),
    isOver: (usage) => isOver(context, effect.key, usage),
    mayNotBegin: async () => context.life().state.halt !== null || usedUp(context) !== null,
    pending: context.pending,
  };
}

/** What the stage does not choose is the agent's own, where it is the same agent. */
function turnOf(
  context: WorkflowContext,
  effect: StageTurnEffect,
  { agent, place, folder, temporary }: By & { readonly folder: string; readonly temporary: string },
): Turn {
  const { run } = context;
  const { type, model, effort } = run.settings.agent;
  const own = agent.kind === type ? { model, effort } : { model: null, effort: null };
  return {
    role: "stage",
    prompt: effect.prompt,
    runId: run.runId,
    issueId: context.issueId,
    stageId: effect.stage,
    attempt: effect.attempt,
    visit: effect.visit,
    sessionId: effect.session,
    model: effect.model.model ?? own.model,
    effort: effect.model.effort ?? own.effort,
    ...(effect.model.provider === null ? {} : { provider: effect.model.provider }),
    cwd: place.path,
    files: filesOf(folder),
    guard: { worktree: place.path, readOnly: false, writable: [temporary, ...place.gitDirs] },
    review: null,
  };
}

/** With what all running turns have used so far. */
function isOver(context: WorkflowContext, key: string, usage: Usage): boolean {
  context.live.set(key, usage);
  return context.run.meter.running(key, usage) !== null || issueBudget(context) !== null;
}

interface Ended extends By {
  readonly end: ProgramEnded<Agent | Reviewer>;
  readonly turn: ProgramTurn;
  readonly redact: (text: string) => string;
}

async function settle(effect: StageTurnEffect, { end, agent, place, turn, redact }: Ended): Promise<StageTurnEnded> {
  const { outcome, reading, seconds, until, refused, agentsAtOnce } = end;
  const { files } = turn.turn;
  const reader = new SpokenStatus();
  const hear = (line: string) => reader.hear(line);
  // A review that broke may have said what it found.
  const replied =
    outcome.type === "ended" || effect.review
      ? await textOfLines(agent.message(files), { printed: files.stdout, folder: files.folder, hear })
      : nothing;
  const spoken = reader.end(effect);
  const result = readResult(await resultIn(files.result), effect);
  const heard = outcome.type === "ended" ? await withRemarks(replied, result.remarks, files.folder) : replied;
  const said = await withoutSecrets(heard, { redact, folder: files.folder });
  const told: StageTurnEnded = {
    type: "turn-ended",
    key: effect.key,
    outcome,
    sessionId: reading.sessionId,
    usage: reading.usage,
    seconds,
    until,
    reply: said.text,
    ...(said.file === null || said.text.ref ? {} : { replyFile: said.file }),
    ...(said.text.ref === undefined ? {} : { replyDigest: await digestOfText(said.text) }),
    status: redactStatus(joinStatus(result.status, spoken), redact),
    ...result.context,
    ...(refused ? { refused } : {}),
  };
  return await settleTold(told, async () => ({
    ...told,
    ...(said.text.text.trim() === "" ? { changed: await hasChanged(files.folder, place.path) } : {}),
    commit: await headOf(place),
    ...(isInBranch(effect) ? await treesOf(files.folder, place.path) : {}),
    // Told with the outcome that changed it.
    ...(agentsAtOnce === undefined ? {} : { agentsAtOnce }),
  }));
}

/** One that is there and says nothing was cut off. */
async function resultIn(path: string): Promise<unknown> {
  const written = await readWritten(path, resultKeys);
  if (written !== null) return written;
  return (await exists(path)) ? new Unreadable() : undefined;
}

async function hasChanged(folder: string, path: string): Promise<boolean> {
  const before = await readOptional(join(folder, markFile));
  return before !== null && before !== "" && before !== (await markOf(path));
}

async function treesOf(folder: string, path: string): Promise<Pick<StageTurnEnded, "tree">> {
  const before = await readOptional(join(folder, trackedFile));
  const after = before === null || before === "" ? null : await trackedMarkOf(path);
  return before === null || after === null ? {} : { tree: { before, after } };
}

/** The run is told of a used-up budget before the turn counts: whoever harvests it again tells it again. */
async function charge(context: WorkflowContext, ended: StageTurnEnded): Promise<StageTurnEnded> {
  const { run, machine } = context;
  const over = run.meter.add(ended.key, ended.usage);
  const own = usedUp(context);
  if (over === null) return own === null ? ended : { ...ended, runBudget: own };
  const to = machine.kind === "run" ? machine.id : runMachineId(run.runId);
  await run.inbox.send(to, { name: "budget", reason: over });
  return { ...ended, runBudget: over };
}
