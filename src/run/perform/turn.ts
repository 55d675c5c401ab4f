import { reviewerSource } from "../../config/reviewer.js";
import { addUsage, countedFrom, overBudget } from "../../core/budget.js";
import type { TurnEffect } from "../../core/issue/effects.js";
import type { IssueEvent, ReviewOutcome, TurnEnded, Usage } from "../../core/issue/events.js";
import { hear, namedCommits, nothingSaid, type Said } from "../../core/issue/marker.js";
import { repositoryPath } from "../../core/ledger/identity.js";
import type { Agent, Reviewer, TurnFiles, TurnReading } from "../../core/ports/agent.js";
import type { Settled } from "../../durable/types.js";
import { gitDirFor } from "../../git/checkout/checkout.js";
import { findProgram } from "../../lib/process/find.js";
import { attemptFolder, type LifeContext, runMachineId, takeSnapshot, worktreePath } from "../context.js";
import { expectNext } from "../expect-next.js";
import { renderPrompt } from "../prompt.js";
import { tellRemade } from "../remade.js";
import { temporaryFolder } from "../temporary.js";
import { type ProgramEnded, performProgram } from "./program.js";
import type { ProgramTurn } from "./program-turn.js";
import { endReading, startReading } from "./readers.js";
import { redactSaid } from "./redacted.js";
import { settleTold } from "./settle-told.js";
import { agentOf, programOf, turnOf } from "./turn-program.js";
import { openAt } from "./worktree.js";

/** A turn of an issue's life, or of a trigger's. */
export async function performTurn(
  life: LifeContext,
  effect: TurnEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  if (life.run.workflow && effect.role === "implementer") {
    return { event: await life.run.workflow.implement(life, effect, signal) };
  }
  const program = programTurn(life, effect);
  if (effect.role === "reviewer") life.readers.begin(program.folder);
  try {
    const performed = performProgram(life.run, program, {
      signal,
      settle: (end) => settle(life, effect, { ...end, files: program.turn.files }),
    });
    return { event: await charge(life, await harvest(life, program.folder, performed)) };
  } finally {
    life.readers.end(program.folder);
  }
}

async function harvest<T>(life: LifeContext, folder: string, performed: Promise<T>): Promise<T> {
  const { state } = findProgram(folder);
  if (state === "ended" || state === "lost") {
    const known = performed.catch(() => undefined).finally(() => life.harvests.delete(known));
    life.harvests.add(known);
  }
  return await performed;
}

function programTurn(life: LifeContext, effect: TurnEffect): ProgramTurn {
  const folder = attemptFolder(life, effect.folder);
  return {
    key: effect.key,
    folder,
    name: effect.folder,
    program: programOf(life, effect),
    turn: turnOf(life, effect, folder),
    place: {
      issueId: life.issueId,
      turn: effect.role === "implementer" && effect.prompt === "implementer" ? "first" : "later",
    },
    until: effect.until,
    timeoutMs: timeoutMs(life, effect),
    idleSeconds: effect.role === "reviewer" ? null : life.run.settings.idle_timeout_seconds,
    temporary: temporaryFolder(life),
    note: effect,
    prompt: async () => {
      if (effect.role === "reviewer") await startReading(life.readers, readingOf(life, folder), effect.head);
      return await renderPrompt(life, effect, folder);
    },
    onSession: (id) => tellSession(life, effect, id),
    isOver: (usage) => isOver(life, effect, usage),
    mayNotBegin: async () => {
      if (life.run.told.isTold && isFirst(life, effect)) return true;
      await Promise.all(life.harvests);
      return usedUp(life) !== null;
    },
    onEnd: () => expectNext(life, effect),
    pending: life.pending,
  };
}

/** No prompt of this life was sent before, so that its issue has not begun. */
function isFirst({ state, trigger }: LifeContext, { role }: TurnEffect): boolean {
  return !trigger && role !== "reviewer" && state().turns === 1;
}

/** A reviewer's session is of no use to anybody. */
async function tellSession(life: LifeContext, effect: TurnEffect, id: string): Promise<void> {
  if (effect.role === "reviewer" || life.state().turn?.session === id) return;
  await life.run.inbox.send(life.machine, { name: "session", turn: effect.key, id });
}

function isOver(life: LifeContext, { key }: TurnEffect, usage: Usage): boolean {
  life.live.set(key, usage);
  return life.run.meter.running(key, usage) !== null || ownUsedUp(life) !== null;
}

function usedUp(life: LifeContext): string | null {
  return life.state().runBudget ?? life.run.meter.over() ?? ownUsedUp(life);
}

/** With what all turns have used that the state does not count yet: an end is recorded after its place is given on. */
function ownUsedUp({ run, trigger, state, live }: LifeContext): string | null {
  if (trigger) return null;
  const { usage, owed, ...begun } = state();
  const spent = owed.flatMap(({ key }) => live.get(key) ?? []).reduce(addUsage, usage);
  return overBudget(run.settings.budgets.issue, { ...spent, ms: run.clock.now() - countedFrom(begun) });
}

function timeoutMs(life: LifeContext, effect: TurnEffect): number {
  if (effect.role !== "reviewer") return life.run.settings.timeout_minutes * 60_000;
  const { reviewer } = reviewerSource(life.run.settings);
  const member = reviewer.panel.find(({ name }) => name === effect.slot) ?? reviewer;
  const own = life.run.reviewers.get(effect.slot ?? "")?.timeoutSeconds;
  return (own ?? member.agent_sdk_timeout) * 1000;
}

function readingOf(life: LifeContext, folder: string) {
  const { mirror } = life.run;
  const worktree = worktreePath(life);
  const mend = () => openAt(life, life.state().baseSha);
  return { folder, worktree, gitDir: gitDirFor(mirror, worktree), mend };
}

type Ended = ProgramEnded<Agent | Reviewer> & { readonly files: TurnFiles };

async function settle(life: LifeContext, effect: TurnEffect, ended: Ended): Promise<TurnEnded> {
  const { outcome, reading, files, seconds, until, refused, agentsAtOnce, unbegun } = ended;
  if (reading.usage) isOver(life, effect, reading.usage);
  const base: TurnEnded = {
    type: "turn-ended",
    key: effect.key,
    outcome,
    sessionId: reading.sessionId,
    usage: reading.usage,
    seconds,
    until,
    snapshot: null,
    marker: null,
    review: null,
    ...(refused ? { refused } : {}),
    ...(unbegun ? { unbegun } : {}),
  };
  // Told with the outcome that changed it.
  const places = agentsAtOnce === undefined ? {} : { agentsAtOnce };
  if (effect.role === "reviewer") {
    return await settleTold(base, async () => ({ ...base, ...places, ...(await endReview(life, effect, ended)) }));
  }
  const said =
    outcome.type === "ended" ? redactSaid(await readMessage(agentOf(life, effect), files), life.run.redact) : null;
  const marker = effect.role === "implementer" ? (said?.marker ?? null) : null;
  const rejected = said && said.rejected.length > 0 ? { rejected: said.rejected } : {};
  const told = { ...base, ...rejected, marker };
  const look = () => takeSnapshot(life, effect.base, namedCommits(marker));
  return await settleTold(told, async () => ({ ...told, ...places, snapshot: await look() }));
}

/** Also of one that failed or was stopped: whoever comes next must not find what it changed. */
async function endReview(
  life: LifeContext,
  effect: TurnEffect,
  { outcome, reading }: Ended,
): Promise<Partial<Pick<TurnEnded, "review" | "disturbed" | "remade">>> {
  const meddling = await endReading(life.readers, readingOf(life, attemptFolder(life, effect.folder)), effect.head);
  // Names are words, too.
  const changed = (meddling?.paths ?? []).map(life.run.redact);
  const remade = await tellRemade(life);
  if (meddling?.shared) return { ...remade, disturbed: changed };
  if (outcome.type !== "ended") return remade;
  return { ...remade, review: reviewOf(life, changed, reading) };
}

/** The run is told of a used-up budget before the turn counts: whoever harvests it again tells it again. */
async function charge(life: LifeContext, ended: TurnEnded): Promise<TurnEnded> {
  const { meter, inbox, runId } = life.run;
  const over = meter.add(ended.key, ended.usage);
  if (over === null) return ended;
  await inbox.send(runMachineId(runId), { name: "budget", reason: over });
  return { ...ended, runBudget: over };
}

/** A reviewer only reads: what it changed is put back, and its word does not count. */
function reviewOf(
  life: LifeContext,
  changed: readonly string[],
  reading: TurnReading & { readonly review?: ReviewOutcome | null },
): ReviewOutcome {
  if (changed.length > 0) {
    return {
      type: "protocol",
      reason: `the reviewer changed the tree (${changed.slice(0, 3).join(", ")}); the changes were discarded`,
    };
  }
  const review = reading.review ?? { type: "protocol" as const, reason: "the reviewer gave no verdict" };
  if (review.type === "protocol") return review;
  return {
    ...review,
    findings: review.findings.map((one) => ({ ...one, file: repositoryPath(one.file, [worktreePath(life)]) })),
  };
}

async function readMessage(agent: Agent, files: TurnFiles): Promise<Said> {
  let said = nothingSaid;
  for await (const line of agent.message(files)) said = hear(said, line);
  return said;
}
