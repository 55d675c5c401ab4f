import type { SlowTracker, Stamped } from "../issue/events.js";
import { brokenText } from "./broken.js";
import type { RunEvent, RunSignal } from "./effects.js";
import {
  epicChecked,
  epicsSeen,
  hasUnverified,
  lookAbove,
  lookBroke,
  looksAtVerified,
  noteFailing,
  searchBeforeRest,
  searchEpics,
  seeToEpics,
} from "./epics.js";
import { followBroke, followed, followsFirst, noteBehind } from "./following.js";
import { isNamedLook, looksAtNamed, namedBroke, namedSeen, noteBegun, noteLost, noteNamed, sayLost } from "./named.js";
import { outcome } from "./outcome.js";
import type { RunChild, RunState } from "./state.js";
import { endingWord, isEnding, type RunNext, type RunPolicy, RunStep } from "./step.js";
import { setTriggers, triggersOf } from "./trigger-state.js";
import { countFinished, goOnWithTriggers, triggerCrashed, triggerEnded } from "./triggers.js";

export type { RunState } from "./state.js";
export { newRun } from "./state.js";
export type { RunNext, RunPolicy } from "./step.js";

/**
 * A run: issues are picked one after the other, each as soon as the one before has been, and their lives go on side by
 * side. It ends when nothing runs and nothing is left, or when it was told to end and the last life has.
 */
export function runMachine(policy: RunPolicy): (state: RunState, event: Stamped<RunEvent>) => RunNext {
  return (state, event) => {
    if (state.phase === "done") return { state, effects: [] };
    const step = new RunStep(policy, state);
    handle(step, event, policy);
    if (event.ending === "drain" || event.ending === "stop") toldToEnd(step, event.ending);
    if (event.type === "prepared") startClock(step, policy, event.at);
    if (event.type === "resumed") renewClock(step, event);
    moveOn(step, policy);
    return step.next();
  };
}

const lostMax = 100;

function handle(step: RunStep, event: RunEvent, policy: RunPolicy) {
  const { state } = step;
  switch (event.type) {
    case "started":
      oweSignal(step);
      step.owe({ kind: "prepare", key: "prepare" });
      return;
    case "prepared":
      return prepared(step, event);
    case "picked":
      sayTold(step, event);
      if (event.key === state.picking) picked(step, event.start);
      return;
    case "none-left":
      sayTold(step, event);
      return noneLeft(step, event, policy);
    case "board-changed":
      return boardChanged(step, event, policy);
    case "child-ended":
      return childEnded(step, event, policy);
    case "trigger-ended":
      return triggerIsOver(step, event, policy);
    case "epic-checked":
      epicChecked(step, event);
      // What waited for the epic may start now.
      return event.epic !== null && event.how === undefined ? pickUnheard(step, policy) : undefined;
    case "epics-seen":
      return epicsSeen(step, event.key, event.due);
    case "followed":
      return followed(step, event);
    case "named-seen":
      return namedSeen(step, event);
    case "told":
      return step.set({ telling: state.telling.filter((key) => key !== event.key) });
    case "signal":
      if (event.key === state.waiting) signalled(step, event.signal);
      return;
    case "crashed":
      return crashed(step, event, policy);
    case "timer-fired":
      if (event.key !== state.clock) return;
      step.set({ clock: null });
      return usedUp(step, `${policy.minutes} of ${policy.minutes} minutes`);
    case "resumed":
      sayEnding(step);
      // Of what was merged while nobody was there the board does not tell.
      return state.board ? searchEpics(step) : undefined;
  }
}

function prepared(step: RunStep, event: Extract<RunEvent, { type: "prepared" }>): void {
  if (step.state.phase !== "preparing") return;
  step.report({
    type: "run-started",
    project_id: event.projectId,
    target_branch: event.target,
    run_start_commit: event.tip,
    repo_path: event.repoPath,
  });
  step.set({ phase: "running" });
  setTriggers(step, { startCommit: event.tip });
  noteNamed(step);
  pick(step);
  searchEpics(step);
}

function sayTold(step: RunStep, { told = [] }: { readonly told?: readonly string[] }): void {
  for (const text of told) step.report({ type: "log", level: "info", text });
}

function picked(step: RunStep, start: Extract<RunEvent, { type: "picked" }>["start"]): void {
  const { children, started } = step.state;
  const key = `child:${start.issueId}:${start.life}`;
  const { issueId, life, parent } = start;
  const child: RunChild = { key, issueId, life, ...(parent ? { parent } : {}) };
  step.set({ picking: null, started: started + 1, children: [...children, child] });
  noteBegun(step, start);
  // Its earlier end is no longer the issue's last word.
  if (start.again) uncount(step, start.stopped ? "interrupted" : "failed");
  step.owe({ kind: "child", key, start });
  pick(step);
}

function uncount(step: RunStep, count: "failed" | "interrupted"): void {
  step.set({ [count]: Math.max(0, (step.state[count] ?? 0) - 1) });
}

/** Lives that run may free others, and so may people: the board is listened to for as long as there is a reason to go on. */
function noneLeft(step: RunStep, event: Extract<RunEvent, { type: "none-left" }>, policy: RunPolicy): void {
  const isOld = event.key === step.state.picking && step.state.pickIsOld === true;
  if (event.key === step.state.picking) step.set({ picking: null });
  if (event.budget !== undefined) usedUp(step, event.budget);
  if (event.due) seeToEpics(step, event.due);
  if (isOld) pickAgain(step, policy);
  const { picking, board, boards = 0, children } = step.state;
  if (picking !== null || board || !mayPick(step, policy)) return;
  if (children.length === 0 && !isWatchful(step, policy)) return;
  if (children.length === 0) {
    step.report({ type: "log", level: "info", text: "Waiting for new work" });
    searchBeforeRest(step);
  }
  const key = `board:${boards + 1}`;
  step.set({ boards: boards + 1, board: key, hears: event.hears ?? false });
  const epics = policy.findsEpics ? ({ epics: true } as const) : {};
  step.owe({ kind: "board", key, cursor: event.cursor ?? null, not: notToPick(step), ...epics });
}

function boardChanged(step: RunStep, event: Extract<RunEvent, { type: "board-changed" }>, policy: RunPolicy): void {
  if (event.key !== step.state.board) return;
  step.set({ board: null });
  if (event.due) seeToEpics(step, event.due);
  else searchEpics(step);
  pickAgain(step, policy);
}

function childEnded(step: RunStep, event: Extract<RunEvent, { type: "child-ended" }>, policy: RunPolicy): void {
  const { state } = step;
  const child = state.children.find((one) => one.key === event.key);
  if (!child) return;
  const { status } = event;
  step.set({
    children: state.children.filter((one) => one !== child),
    lost: status === "not-claimed" ? [...state.lost, event.issueId].slice(-lostMax) : state.lost,
    external: state.external || event.trackerOwed,
    started: state.started - (status === "not-claimed" ? 1 : 0),
    succeeded: state.succeeded + (status === "success" ? 1 : 0),
    failed: state.failed + (status === "failed" || status === "escalated" ? 1 : 0),
    ...(status === "interrupted" ? { interrupted: (state.interrupted ?? 0) + 1 } : {}),
  });
  if (status === "not-claimed") noteLost(step, event.issueId);
  noteBehind(step, event);
  if (event.abort) step.set({ aborting: true });
  afterAbort(step, state);
  if (status === "success" || status === "failed" || status === "escalated") countFinished(step);
  if (status === "success" && child.parent) lookAbove(step, child.issueId);
  if ((status === "failed" || status === "escalated") && child.parent) noteFailing(step, child.issueId);
  // The issue itself may be taken again only where it has not succeeded; the last life to end may end the run.
  const isOver = status === "success" || status === "not-claimed";
  if (!isOver && step.state.picking !== null) step.set({ pickIsOld: true });
  if (isOver && step.state.children.length > 0) pickUnheard(step, policy);
  else pickAgain(step, policy);
}

function triggerIsOver(step: RunStep, event: Extract<RunEvent, { type: "trigger-ended" }>, policy: RunPolicy): void {
  const { state } = step;
  const { epic, key } = triggersOf(state).running ?? {};
  triggerEnded(step, event);
  noteBehind(step, event);
  afterAbort(step, state);
  // The epic is completed, and something may have waited for it; or an issue was made that must be done first.
  if (epic && key === event.key && event.reason !== "not_claimed") pickUnheard(step, policy);
}

/** What an abort, an issue's or a trigger's, means for the others. */
function afterAbort(step: RunStep, before: RunState): void {
  if (!step.state.aborting || before.aborting) return;
  step.log("warn", told.abort);
  stopPicking(step);
  tellChildren(step, "abort");
}

/** Whoever was told may sit at another terminal: the run itself says so. */
const told = {
  drain: "Draining: what runs comes to its end, nothing new starts",
  stop: "Stopping: what runs ends at its next safe point and can be resumed",
  abort: "Aborting: what runs ends at its next safe point and fails, unless it is landing already; nothing new starts",
} as const;

/** Whoever takes the run up again did not hear it the first time. */
function sayEnding(step: RunStep): void {
  const word = endingWord(step.state);
  if (word !== null) step.log("warn", told[word]);
}

function signalled(step: RunStep, signal: RunSignal) {
  step.set({ waiting: null });
  oweSignal(step);
  if (signal.name === "budget") return usedUp(step, signal.reason);
  if (signal.name === "slow") return sayWaiting(step, signal);
  if (signal.name === "unwatch") return step.set({ unwatched: true });
  toldToEnd(step, signal.name);
}

/** By its signal, or by what arrives before that. */
function toldToEnd(step: RunStep, word: "drain" | "stop"): void {
  const { state } = step;
  if (word === "drain" ? state.draining || state.stopping : state.stopping) return;
  step.set(word === "drain" ? { draining: true } : { stopping: true });
  step.log("warn", told[word]);
  stopPicking(step);
  tellChildren(step, word);
}

/** One that has answered meanwhile is waited for no more. */
function sayWaiting(step: RunStep, { key, call }: SlowTracker): void {
  const { picking, board } = step.state;
  const { running, looking } = triggersOf(step.state);
  if (![picking, board, running?.key, ...looking].includes(key) && !isNamedLook(step, key)) return;
  step.log("warn", `Waiting for the tracker to answer ${call}`);
}

function startClock(step: RunStep, { minutes = null }: RunPolicy, at: number): void {
  if (minutes === null || step.state.phase !== "running" || step.state.clock !== undefined) return;
  const until = at + minutes * 60_000;
  step.set({ clock: "timer:budget", clockUntil: until });
  step.owe({ kind: "timer", key: "timer:budget", until });
}

/** The time that nobody was there is not the run's. */
function renewClock(step: RunStep, { since, at }: { readonly since?: number; readonly at: number }): void {
  const { clock, clockUntil } = step.state;
  if (!clock || clockUntil === undefined || since === undefined || at <= since) return;
  const until = clockUntil + at - since;
  const key = `timer:budget:${until}`;
  step.cancel(clock);
  step.set({ clock: key, clockUntil: until });
  step.owe({ kind: "timer", key, until });
}

/** Nothing new starts; lives go on as far as they come without a further turn. */
function usedUp(step: RunStep, reason: string): void {
  if (step.state.budget !== undefined) return;
  step.set({ budget: reason });
  step.report({ type: "log", level: "warn", text: `The run's budget is used up: ${reason}` });
  stopPicking(step);
  tellChildren(step, "budget", reason);
}

/** Lives that run go on to their end; nothing new is taken. */
function crashed(step: RunStep, event: Extract<RunEvent, { type: "crashed" }>, policy: RunPolicy) {
  const { state } = step;
  if (event.key === state.waiting) {
    step.set({ waiting: null });
    return oweSignal(step);
  }
  if (state.telling.includes(event.key)) return step.set({ telling: state.telling.filter((key) => key !== event.key) });
  if (followBroke(step, event)) return;
  step.log("error", brokenText(event, state, isWatchful(step, policy)));
  if (event.key === state.board) {
    step.set({ board: null });
    if (!isWatchful(step, policy)) return;
  }
  step.set({ external: state.external || event.external, broken: true });
  if (triggerCrashed(step, event.key) || lookBroke(step, event.key) || namedBroke(step, event)) return;
  const child = state.children.find((one) => one.key === event.key);
  if (!child) {
    step.set({ closed: true, phase: "running" });
    return stopPicking(step);
  }
  step.set({ children: state.children.filter((one) => one !== child), failed: state.failed + 1 });
  countFinished(step);
  pickAgain(step, policy);
}

function moveOn(step: RunStep, policy: RunPolicy): void {
  const { state } = step;
  if ((state.picking !== null || state.board) && !mayPick(step, policy)) stopPicking(step);
  if (state.phase === "preparing" && !isEnding(state)) return;
  const isWatching = isWatchful(step, policy) && Boolean(step.state.board);
  const isIdle = step.state.picking === null && state.children.length === 0 && !isWatching;
  if (goOnWithTriggers(step, isIdle) || !isIdle) return;
  if (!followsFirst(step) && !looksAtNamed(step) && !looksAtVerified(step)) finish(step);
}

function isWatchful({ state }: RunStep, { watch = false }: RunPolicy): boolean {
  return watch && !state.unwatched;
}

function mayPick({ state }: RunStep, policy: RunPolicy): boolean {
  if (isEnding(state) || state.closed || state.budget !== undefined) return false;
  if (state.children.length >= (policy.livesMax ?? Number.POSITIVE_INFINITY)) return false;
  return policy.maxIssues === null || state.started < policy.maxIssues;
}

function pickAgain(step: RunStep, policy: RunPolicy): void {
  if (step.state.picking === null && mayPick(step, policy)) pick(step);
}

/** Something may be free now: whoever hears the board is told so by it. */
function pickUnheard(step: RunStep, policy: RunPolicy): void {
  const { board, hears = false, children } = step.state;
  if (board && hears && (children.length > 0 || isWatchful(step, policy))) return;
  pickAgain(step, policy);
}

function pick(step: RunStep): void {
  stopListening(step);
  const picks = step.state.picks + 1;
  const key = `pick:${picks}`;
  step.set({ picks, picking: key, ...(step.state.pickIsOld ? { pickIsOld: false } : {}) });
  const { findsEpics, verify } = step.policy;
  const epics = findsEpics && verify !== "later" ? ({ epics: true } as const) : {};
  step.owe({ kind: "pick", key, not: notToPick(step), ...epics });
}

function notToPick({ state }: RunStep): readonly string[] {
  return [...state.children.map(({ issueId }) => issueId), ...state.lost];
}

function stopPicking(step: RunStep): void {
  step.cancel(step.state.picking);
  step.set({ picking: null });
  stopListening(step);
}

function stopListening(step: RunStep): void {
  if (!step.state.board) return;
  step.cancel(step.state.board);
  step.set({ board: null });
}

function tellChildren(step: RunStep, signal: "drain" | "abort" | "stop" | "budget", reason?: string): void {
  const { children, telling } = step.state;
  const { running } = triggersOf(step.state);
  const lives = children.map(({ issueId, life }) => ({ key: `tell:${issueId}:${life}:${signal}`, issueId, life }));
  const trigger = running && { issueId: "", life: running.number, trigger: running.name };
  const told = trigger ? [...lives, { key: `tell:trigger:${running.number}:${signal}`, ...trigger }] : lives;
  for (const one of told) {
    step.owe({ kind: "tell", ...one, signal, ...(reason === undefined ? {} : { reason }) });
  }
  step.set({ telling: [...telling, ...told.map(({ key }) => key)] });
}

function oweSignal(step: RunStep): void {
  const signals = step.state.signals + 1;
  const key = `signal:${signals}`;
  step.set({ signals, waiting: key });
  step.owe({ kind: "wait", key });
}

function finish(step: RunStep): void {
  stopListening(step);
  sayLost(step);
  const { state } = step;
  const [status, exit_code] = outcome(state, { unverified: hasUnverified(step), only: step.policy.only });
  step.report({
    type: "run-finished",
    status,
    exit_code,
    success_count: state.succeeded,
    total_count: state.succeeded + state.failed,
    ...(state.interrupted === undefined ? {} : { interrupted_count: state.interrupted }),
  });
  step.cancel(state.waiting);
  step.cancel(state.clock ?? null);
  for (const key of state.telling) step.cancel(key);
  if (state.phase === "preparing") step.cancel("prepare");
  step.set({ phase: "done", waiting: null, telling: [], exitCode: exit_code, ...(state.clock ? { clock: null } : {}) });
}
