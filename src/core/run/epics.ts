import type { EpicName } from "../ports/tracker.js";
import type { EpicLook, RunEffect, RunEvent, TriggerResult } from "./effects.js";
import { isEnding, type RunStep } from "./step.js";
import { queueTrigger, setTriggers, tellSkipped, triggersOf } from "./trigger-state.js";

/**
 * What becomes of epics. One is completed when none of its children is open and nothing that it depends on is, all of that
 * is in the target, and where there is a reviewer only after its verification passed; nothing else completes it. A run that finds defects verifies the epic again when the issue for
 * them is done, a few times at most, so that a reviewer who never agrees cannot keep it going.
 */
const verificationsMax = 3;
const namesMax = 100;
type EpicChecked = Extract<RunEvent, { type: "epic-checked" }>;
type EpicEffect = Extract<RunEffect, { kind: "epic" | "epics" }>;
type WithoutKey<E> = E extends unknown ? Omit<E, "key"> : never;

/** An issue of an epic, or an epic in another, is done. What failed in other runs is for those to tell. */
export function lookAbove(step: RunStep, child: string): void {
  const failed = (triggersOf(step.state).failing ?? []).filter((one) => one !== child);
  if (triggersOf(step.state).failing?.includes(child)) setTriggers(step, { failing: failed });
  look(step, child, failed.length > 0 ? { failing: "so-far", failed } : {});
}

/** A run that ends fires nothing, so it leaves epics to the next. */
function look(step: RunStep, child: string, failure: Pick<EpicLook, "failing" | "failed">): void {
  if (isEnding(step.state)) return;
  const verify = step.policy.verify === "now" || step.policy.verify === "later";
  oweLook(step, { kind: "epic", child, ...(verify ? { verify } : {}), ...failure });
}

/** An issue in an epic has not succeeded: whether the epic can go on is known for sure only at the end. */
export function noteFailing(step: RunStep, child: string): void {
  if (!firesOn(step, "failure")) return;
  const { failing = [] } = triggersOf(step.state);
  setTriggers(step, { failing: [...failing.filter((one) => one !== child), child].slice(-namesMax) });
  look(step, child, { failing: "so-far" });
}

/** Whatever others, people and runs, have completed. */
export function searchEpics(step: RunStep): void {
  if (!step.policy.findsEpics || isEnding(step.state)) return;
  setTriggers(step, { searched: step.state.picks });
  oweLook(step, { kind: "epics" });
}

/** The run ends, or waits for the board, which does not tell of merges that were made before: nothing is missed in between. */
export function searchBeforeRest(step: RunStep): void {
  if (triggersOf(step.state).searched !== step.state.picks) searchEpics(step);
}

/** Nothing else is left to do. True: something was found to look at. */
export function lookAtLast(step: RunStep): boolean {
  if (isEnding(step.state)) return false;
  const { failing = [] } = triggersOf(step.state);
  setTriggers(step, { ...(failing.length > 0 ? { failing: [] } : {}) });
  for (const child of failing) look(step, child, { failing: "at-last" });
  searchBeforeRest(step);
  return triggersOf(step.state).looking.length > 0;
}

export function epicsSeen(step: RunStep, key: string, due: readonly EpicName[]): void {
  settleLook(step, key);
  seeToEpics(step, due);
}

export function seeToEpics(step: RunStep, due: readonly EpicName[]): void {
  if (isEnding(step.state)) return;
  const { verified = {}, unmerged = [] } = triggersOf(step.state);
  for (const epic of due) {
    if (step.policy.verify === "never") oweLook(step, { kind: "epic", epic: epic.id });
    // Tried in vain: it is looked at again when something of it has changed.
    else if (verified[epic.id] === undefined || unmerged.includes(epic.id)) verifyEpic(step, epic);
  }
  const left = unmerged.filter((id) => due.every((epic) => epic.id !== id));
  if (left.length < unmerged.length) setTriggers(step, { unmerged: left });
}

export function epicChecked(step: RunStep, { key, epic, how, why, open = [] }: EpicChecked) {
  settleLook(step, key);
  if (epic === null) return;
  if (how === "done") return forgetVerified(step, epic);
  if (how === "unmerged") return epicWaits(step, epic, why ?? "its work is not merged yet");
  if (how === "failed") return epicFailed(step, epic, "none of its issues can go on");
  if (how === "unfinished") return epicFailed(step, epic, `this run has nothing left to do, and ${notDone(open)}`);
  if (how === "due") return verifyEpic(step, epic);
  epicCompleted(step, epic, "all of its children are; not verified: no reviewer is configured");
}

const namedMax = 5;

function notDone(open: readonly string[]): string {
  const more = open.length > namedMax ? ` and ${open.length - namedMax} more` : "";
  return `${open.slice(0, namedMax).join(", ")}${more} can still go on without it`;
}

/** For whoever merges: nobody looks at what is not there. */
function epicWaits(step: RunStep, { id }: EpicName, why: string): void {
  const { unmerged = [] } = triggersOf(step.state);
  setTriggers(step, { unmerged: [...unmerged.filter((one) => one !== id), id].slice(-namesMax) });
  step.log("info", `epic ${id} is not completed yet: ${why}`);
}

/** A look that broke: the epic stays as it is. */
export function lookBroke(step: RunStep, key: string): boolean {
  if (!triggersOf(step.state).looking.includes(key)) return false;
  settleLook(step, key);
  return true;
}

/** Only a verdict counts: an epic that nobody could judge stays open, and the run has not succeeded. */
export function verificationEnded(step: RunStep, epic: EpicName, ended: TriggerResult) {
  const { verified = {} } = triggersOf(step.state);
  const { [epic.id]: times = 0, ...others } = verified;
  if (ended.result === "pass") {
    forgetVerified(step, epic);
    return epicCompleted(step, epic, "all of its children are, and it was verified");
  }
  const told = `epic ${epic.id} is not completed`;
  if (isOthers(ended) || ended.reason === "not_due") {
    const why = "something of it is open, or somebody else has it or has completed it";
    return step.log("info", `${told} by this run: ${why}`);
  }
  if (isEnding(step.state)) {
    const next = ended.followUp === undefined ? "the next one verifies it" : `${ended.followUp} is to be done first`;
    return step.log("info", `${told}, because the run ends: ${next}`);
  }
  setTriggers(step, { verified: { ...others, [epic.id]: times + 1 } });
  const next =
    ended.followUp === undefined ? "the next run verifies it again" : `${ended.followUp} is to be done first`;
  step.log("warn", `${told}: its verification failed (${ended.reason}); ${next}`);
  epicFailed(step, epic, "its verification failed");
}

/** Another run was first to claim the epic: nothing was judged here. */
function isOthers({ reason }: Pick<TriggerResult, "reason">): boolean {
  return reason === "not_claimed";
}

/** Its reviewers passed it, or it was somebody else's, or the run ends: no verdict was against it. */
export function toldOf({
  result,
  reason,
}: Pick<TriggerResult, "result" | "reason">): TriggerResult["result"] | "skipped" {
  return isOthers({ reason }) || reason === "not_due" || reason === "run_aborted" ? "skipped" : result;
}

function forgetVerified(step: RunStep, { id }: EpicName): void {
  const { [id]: _, ...verified } = triggersOf(step.state).verified ?? {};
  setTriggers(step, { verified });
}

/** Of those that were verified in vain, somebody may have completed some since. True: the run cannot end yet. */
export function looksAtVerified(step: RunStep): boolean {
  const { verified = {}, verifiedLook = false } = triggersOf(step.state);
  const epics = Object.keys(verified);
  if (verifiedLook || epics.length === 0 || isEnding(step.state)) return false;
  setTriggers(step, { verifiedLook: true });
  for (const verified of epics) oweLook(step, { kind: "epic", verified });
  return true;
}

/** Some epic that this run has verified is still open. */
export function hasUnverified(step: Pick<RunStep, "state">): boolean {
  return Object.keys(triggersOf(step.state).verified ?? {}).length > 0;
}

function verifyEpic(step: RunStep, epic: EpicName) {
  const { verified = {}, running, queue } = triggersOf(step.state);
  const isAtIt = [running, ...queue].some((one) => one?.epic?.id === epic.id);
  if (isAtIt || isEnding(step.state)) return;
  if (step.policy.verify === "later") return step.log("info", `epic ${epic.id} is due: the next run verifies it`);
  const times = verified[epic.id] ?? 0;
  if (times >= verificationsMax) {
    return step.log("warn", `epic ${epic.id} was verified ${times} times in vain: the next run looks at it again`);
  }
  queueTrigger(step, { name: "epic_verification", about: `epic_id=${epic.id}`, epic });
}

function epicCompleted(step: RunStep, epic: EpicName, why: string): void {
  const { epics } = triggersOf(step.state);
  if (epics.includes(epic.id)) return;
  setTriggers(step, { epics: [...epics, epic.id].slice(-namesMax) });
  step.log("info", `epic ${epic.id} completed: ${why}`);
  if (!epic.isTop) lookAbove(step, epic.id);
  fire(step, epic, "success");
}

/** At most once in a run. */
function epicFailed(step: RunStep, epic: EpicName, why: string): void {
  const { failedEpics = [] } = triggersOf(step.state);
  if (!firesOn(step, "failure") || failedEpics.includes(epic.id)) return;
  setTriggers(step, { failedEpics: [...failedEpics, epic.id].slice(-namesMax) });
  step.log("warn", `epic ${epic.id} failed: ${why}`);
  if (!epic.isTop) noteFailing(step, epic.id);
  fire(step, epic, "failure");
}

function fire(step: RunStep, epic: EpicName, outcome: "success" | "failure"): void {
  if (!firesOn(step, outcome)) return;
  if (step.policy.triggers?.epic_completion?.epic_depth === "top_level" && !epic.isTop) return;
  const about = `epic_id=${epic.id}`;
  // It was completed in the moment in which the run was told to end.
  if (isEnding(step.state)) tellSkipped(step, "epic_completion", about);
  else queueTrigger(step, { name: "epic_completion", about });
}

function firesOn({ policy }: RunStep, outcome: "success" | "failure"): boolean {
  const on = policy.triggers?.epic_completion?.fire_on;
  return on === "both" || on === outcome;
}

function oweLook(step: RunStep, look: WithoutKey<EpicEffect>): void {
  const { looks, looking } = triggersOf(step.state);
  const key = `epic:${looks + 1}`;
  setTriggers(step, { looks: looks + 1, looking: [...looking, key] });
  step.owe({ ...look, key });
}

function settleLook(step: RunStep, key: string): void {
  setTriggers(step, { looking: triggersOf(step.state).looking.filter((one) => one !== key) });
}
