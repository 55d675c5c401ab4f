import { addUsage as addSpent } from "../../core/budget.js";
import { clip } from "../../core/clip.js";
import type { Text } from "../../core/finding.js";
import type { Usage } from "../../core/issue/events.js";
import { appendToArray, isEngineKey, storedValue } from "../context.js";
import type { LlmStage } from "../graph.js";
import { held } from "./command.js";
import { isChanged } from "./disturbed.js";
import type { Json, StageTurnEnded, WorkflowEvent } from "./events.js";
import { getsFindings } from "./graph-index.js";
import { attemptsFor } from "./retry.js";
import type { Execution, Token, Values } from "./state.js";
import { newExecution, type Step } from "./step.js";
import { valueNames } from "./values.js";
import { addUsage, endExecution, machineryFailure, type Verdict, verdict } from "./visit.js";
import { breakOff } from "./wind-down.js";

/**
 * Turns of llm stages: how they are owed, which endings are the world's (back-off, usage limits, silence, crashes, a
 * forgotten session) and repeat the attempt, and what the reply says. A review passes only by its own word.
 */
const idleContinues = 2;
const lostContinues = 3;
const limitWaitMs = 15 * 60_000;
const limitWaits = 24;
const heldValues = 500;
const valueMax = 16_384;

export function beginTurn(step: Step, token: Token, stage: LlmStage): void {
  const run = token.run ?? newExecution(step.at, "");
  send(step, token, { stage, run: { ...run, session: threadOf(step, token, stage)?.session ?? null }, until: null });
}

export function afterTurn(step: Step, token: Token, stage: LlmStage, event: StageTurnEnded) {
  const taken = takeTurn(step, token, event);
  const now = step.setToken(taken);
  keepThread(step, now, { stage, session: taken.run?.session ?? null });
  if (event.outcome.type !== "ended") {
    // Its budget ended it: nothing is tried again.
    if (step.state.halt) return breakOff(step, now);
    return afterTrouble(step, now, stage, event);
  }
  keepReply(step, now, stage, event);
  const found = isMeddling(step, now, stage, event) ? meddling(event) : judge(stage, event);
  endExecution(step, step.token(token.id) ?? now, stage, found);
}

/** A review that has nobody beside it, because files were changed before while several reviewed. */
function isMeddling(step: Step, { parent }: Token, { autoStatus }: LlmStage, event: StageTurnEnded): boolean {
  const block = parent === null ? undefined : step.state.blocks.find(({ token }) => token === parent);
  return autoStatus && block?.alone !== undefined && isChanged(event);
}

function meddling({ reply, commit = null }: StageTurnEnded): Verdict {
  return { ...withoutStatus("files changed while nobody but this review was at work", reply), commit };
}

/** What a turn has used and told, however it ended. */
export function takeTurn(step: Step, token: Token, event: StageTurnEnded): Token {
  const { usage, seconds, runBudget } = event;
  spend(step, usage);
  reportTurn(step, event);
  if (runBudget !== undefined) overBudget(step, runBudget);
  const run = token.run ?? newExecution(step.at, "");
  const session = event.sessionId ?? run.session;
  return { ...token, run: { ...run, session, usage: addUsage(run.usage, usage), seconds: run.seconds + seconds } };
}

/** A called workflow pays from the same budget: where it is used up, its caller ends too. */
export function takeChild(step: Step, event: Extract<WorkflowEvent, { type: "child-ended" }>): void {
  spend(step, event.usage ?? null);
  if (event.budget) step.halt({ status: "fail", stage: null, reason: event.reason, budget: true });
}

function spend(step: Step, usage: Usage | null): void {
  if (usage) step.set({ usage: addSpent(step.state.usage, usage), used: addUsage(step.state.used, usage) });
}

/** The timer of a back-off or a usage limit fired. */
export function resendTurn(step: Step, token: Token, stage: LlmStage): void {
  if (token.run) send(step, token, { stage, run: token.run, until: null });
}

/** A running turn has told its session: known at once, so that no crash forgets it. */
export function learnSession(step: Step, told: { readonly turn: string; readonly id: string }): void {
  const owed = step.state.owed.find(({ key, kind }) => key === told.turn && kind === "turn");
  const token = owed?.token === undefined ? null : step.token(owed.token);
  const { id } = told;
  if (!token?.run || token.run.session === id) return;
  step.setToken({ ...token, run: { ...token.run, session: id } });
  step.report({ type: "session-known", session_id: id, role: "stage" });
}

export function overBudget(step: Step, reason: string): void {
  // A caller passes on what it has said itself.
  const told = reason.startsWith(usedUp) ? reason : usedUp + reason;
  step.halt({ status: "fail", stage: null, reason: told, budget: true });
}
const usedUp = "the budget is used up: ";

/** What the reply means. Only a review's markers set its status; a program's result file does for every stage. */
function judge(stage: LlmStage, event: StageTurnEnded): Verdict {
  const { status, reply, replyDigest, commit = null } = event;
  const isEmpty = reply.text.trim() === "";
  if (status?.broken !== undefined) {
    const what = stage.autoStatus ? "the review gave no status" : "the agent gave no status";
    return { ...withoutStatus(`${what}: its result file ${status.broken}`, reply), commit };
  }
  const word = status && (stage.autoStatus || status.from === "file") ? status.status : null;
  const hints = { label: status?.preferredLabel ?? null, next: status?.nextIds ?? [], body: reply, commit };
  if (word !== null) {
    const reason = word === "success" ? null : (status?.failureReason ?? null);
    return { ...verdict(word, reason), ...hints, digest: `${reason ?? ""}\n${replyDigest ?? reply.text}` };
  }
  if (stage.autoStatus) {
    if (isEmpty) return { ...machineryFailure("the review said nothing"), commit };
    const said = status !== null && (status.invalid !== undefined || status.failureReason !== null);
    if (stage.withoutStatus === "success" && !said) {
      const failing = status?.failing;
      if (failing === undefined) return { ...verdict("success"), ...hints };
      return { ...verdict("fail", failing), ...hints, digest: `${failing}\n${replyDigest ?? reply.text}` };
    }
    const reason = "the review gave no status: its reply has no valid [STATUS: …]";
    return { ...withoutStatus(reason, reply), commit };
  }
  if (isEmpty && event.changed !== true) return { ...verdict("fail", "the agent said nothing"), commit };
  return { ...verdict("success"), ...hints };
}

/** What it said is all that there is to go by. */
function withoutStatus(reason: string, reply: Text): Verdict {
  const failure = machineryFailure(reason);
  return reply.text.trim() === "" ? failure : { ...failure, body: reply };
}

function afterTrouble(step: Step, token: Token, stage: LlmStage, event: StageTurnEnded) {
  const { outcome, until } = event;
  const run = token.run ?? newExecution(step.at, "");
  const end = (what: string) => broken(step, token, stage, { what, said: event.reply });
  const again = (patch: Partial<Execution>, turnEnd: number | null = null) =>
    send(step, token, { stage, run: { ...run, next: "continue", ...patch }, until: turnEnd });
  switch (outcome.type) {
    case "idle":
      return run.idle < idleContinues
        ? again({ idle: run.idle + 1, interrupted: outcome.type }, until)
        : end("stayed silent");
    case "lost":
    case "stopped":
      return run.lost < lostContinues ? again({ lost: run.lost + 1, interrupted: outcome.type }) : end("was lost");
    case "transient":
      return backOff(step, token, { stage, reason: outcome.reason, said: event.reply });
    case "limited":
      return waitForLimit(step, token, { stage, reason: outcome.reason, until: outcome.until, said: event.reply });
    case "no-session":
    case "overflow":
      if (run.session === null || run.restarted) return end(`lost its session (${outcome.type})`);
      step.log(
        "warn",
        `The session of ${stage.id} cannot go on (${outcome.type}): the same prompt goes into a new one`,
      );
      dropThread(step, token, stage);
      return again({ session: null, next: "same", restarted: true });
    case "failed":
      if (!outcome.broke) return end(`failed: ${outcome.reason}`);
      return endExecution(step, token, stage, unseen(stage, outcome.reason, event.reply));
    case "timed-out":
      return end("ran out of time");
    case "ended":
      return;
  }
}

/** Not the agent's failure: whoever was to look at its work could not. */
function unseen({ id }: LlmStage, reason: string, said: Text): Verdict {
  return machineryFailure(`the turn of ${id} could not be brought to its end: ${reason}`, said);
}

/** A review that did not come to a verdict is run again; any other agent that failed has failed. */
function broken(
  step: Step,
  token: Token,
  stage: LlmStage,
  { what, said }: { readonly what: string; readonly said: Text },
): void {
  const reason = stage.autoStatus ? `the reviewer ${what}` : `the agent ${what}`;
  endExecution(step, token, stage, stage.autoStatus ? machineryFailure(reason, said) : verdict("fail", reason));
}

interface Trouble {
  readonly stage: LlmStage;
  readonly reason: string;
  readonly said: Text;
  readonly until?: number | null;
}
function backOff(step: Step, token: Token, { stage, reason, said }: Trouble) {
  const run = token.run ?? newExecution(step.at, "");
  const seconds = step.policy.settings.backoff_seconds[run.transient];
  if (seconds === undefined) return broken(step, token, stage, { what: `could not be reached: ${reason}`, said });
  waitUntil(step, { ...token, run: { ...run, transient: run.transient + 1 } }, step.at + seconds * 1000, reason);
}

function waitForLimit(step: Step, token: Token, { stage, reason, said, until = null }: Trouble) {
  const run = token.run ?? newExecution(step.at, "");
  const list = step.policy.settings.backoff_seconds;
  if (run.limited >= list.length + limitWaits)
    return broken(step, token, stage, { what: `met a usage limit: ${reason}`, said });
  const own = list[run.limited];
  const end = until !== null && until > step.at ? until : step.at + (own === undefined ? limitWaitMs : own * 1000);
  const continued = { next: "continue", interrupted: "limited" } as const;
  const next = { ...token, run: { ...run, limited: run.limited + 1, ...continued } };
  waitUntil(step, next, end, `usage limit: ${reason}`);
}

function waitUntil(step: Step, token: Token, until: number, reason: string): void {
  step.setToken({ ...token, phase: "backing-off" });
  step.oweTimer("resend", token.id, until);
  step.report({ type: "waiting", for: `trying ${token.stage} again: ${clip(reason, 300)}`, until });
}

interface Sent {
  readonly stage: LlmStage;
  readonly run: Execution;
  readonly until: number | null;
}
function send(step: Step, token: Token, { stage, run, until }: Sent): void {
  const continues = run.next === "continue" && run.session !== null;
  const folder = step.newFolder(stage.id);
  const repeat = run.repeats === 0 ? "" : `:r${run.repeats}`;
  step.setToken({ ...token, phase: "running", run: { ...run, folder, repeats: run.repeats + 1 } });
  const maxAttempts = attemptsFor(stage, stage.autoStatus ? "machinery" : "fail");
  const prompt = continues ? "continue" : "stage";
  const { visit, attempt, workspace } = token;
  step.owe({
    kind: "turn",
    key: `stage:${stage.id}:v${visit}:a${attempt}${repeat}`,
    stage: stage.id,
    visit,
    attempt,
    maxAttempts,
    token: token.id,
    workspace,
    folder,
    role: "stage",
    prompt,
    continues: continues ? run.folder : null,
    ...(continues && run.interrupted ? { interrupted: run.interrupted } : {}),
    session: run.session,
    model: stage.model,
    fidelity: fidelityOf(token, stage),
    review: stage.autoStatus,
    findings: getsFindings(stage),
    timeoutMs: stage.timeoutMs,
    until,
  });
  const path = step.policy.promptPath(folder);
  step.report({ type: "prompt-sent", kind: prompt, attempt, max_attempts: maxAttempts, path, role: "stage" });
}

function reportTurn(step: Step, { outcome, sessionId, usage, refused, agentsAtOnce }: StageTurnEnded): void {
  const reason = "reason" in outcome ? { reason: outcome.reason } : {};
  step.report({ type: "turn-ended", outcome: outcome.type, session_id: sessionId, usage, role: "stage", ...reason });
  if (refused) {
    const calls = refused.count === 1 ? "a tool call" : `${refused.count} tool calls`;
    step.log("warn", `The guard refused ${calls} of the stage: ${refused.last}`);
  }
  if (agentsAtOnce === undefined) return;
  const why = outcome.type === "transient" ? "overloaded" : "going well again";
  step.log("info", `The model's servers are ${why}: at most ${agentsAtOnce} agents at once from now on`);
}

function keepReply(step: Step, token: Token, stage: LlmStage, event: StageTurnEnded): void {
  const { reply } = event;
  const said: Values =
    reply.text.trim() === "" ? {} : { [`${stage.responseKey}.response`]: held(reply, event.replyFile) };
  let values: Values = said;
  for (const [key, json] of settable(step, event.contextUpdates)) values = { ...values, [key]: { json } };
  for (const [key, json] of settable(step, event.contextAppends)) {
    const known = Object.hasOwn(values, key) ? undefined : storedValue(step.state, token.id, key);
    values = appendToArray(known === undefined ? values : { ...values, [key]: known }, key, json);
  }
  const kept = new Set(values === said ? [] : [...valueNames(step.state), ...Object.keys(token.values)]);
  const fitting = Object.entries(values).filter(([key, value]) => fits(step, kept, { key, value }));
  step.write(token.id, Object.fromEntries(fitting));
}

/** No agent says what is the engine's to say. */
function settable(step: Step, given: StageTurnEnded["contextUpdates"] = {}): [string, Json][] {
  const { graph } = step.index;
  const isOwn = ([key]: [string, Json]) => isEngineKey(graph, key);
  const entries = Object.entries(given);
  const refused = entries.filter(isOwn).map(([key]) => key);
  if (refused.length === 0) return entries;
  const keys = clip(refused.join(", "), 200);
  step.log("warn", `The agent may not set ${keys}: only the workflow itself does; left out`);
  return entries.filter((entry) => !isOwn(entry));
}

interface Given {
  readonly key: string;
  readonly value: Values[string];
}

/** The state must stay small whatever an agent writes; what is left out is said. `kept` grows with what fits. */
function fits(step: Step, kept: Set<string>, { key, value }: Given): boolean {
  if (typeof value === "string" || "text" in value) return true;
  const bytes = sizeOf(value.json);
  const hasRoom = kept.has(key) || kept.size < heldValues;
  if (key.length <= 200 && bytes <= valueMax && hasRoom) {
    kept.add(key);
    return true;
  }
  const why = hasRoom ? `${bytes} bytes` : "too many values";
  step.log("warn", `The context value ${clip(key, 100)} was left out: ${why}`);
  return false;
}

function sizeOf(json: Json): number {
  return JSON.stringify(json).length;
}

function fidelityOf({ edge }: Token, stage: LlmStage) {
  return edge?.fidelity ?? stage.fidelity;
}

/** Branches run at the same time: none of them goes on in a session of another. */
function threadName({ id, parent, edge }: Token, stage: LlmStage): string {
  const name = stage.thread ?? edge?.thread ?? "";
  return parent === null ? name : `${id} ${name}`;
}
function threadOf(step: Step, token: Token, stage: LlmStage) {
  if (fidelityOf(token, stage) !== "full") return null;
  const name = threadName(token, stage);
  const thread = Object.hasOwn(step.state.threads, name) ? step.state.threads[name] : undefined;
  return thread && thread.provider === stage.model.provider ? thread : null;
}
function keepThread(
  step: Step,
  token: Token,
  { stage, session }: { readonly stage: LlmStage; readonly session: string | null },
): void {
  if (session === null || fidelityOf(token, stage) !== "full") return;
  const thread = { session, provider: stage.model.provider };
  step.set({ threads: { ...step.state.threads, [threadName(token, stage)]: thread } });
}
function dropThread(step: Step, token: Token, stage: LlmStage): void {
  const { [threadName(token, stage)]: _, ...threads } = step.state.threads;
  step.set({ threads });
}
