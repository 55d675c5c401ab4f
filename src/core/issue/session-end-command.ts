import { add } from "../ledger/ledger.js";
import type { Trigger } from "../settings.js";
import type { CommandEnded } from "./events.js";
import { closeOthers, commandRemark, isPass, logAllowed, logDiscarded, visitOf } from "./ledger-parts.js";
import { mayFail, triggerName, triggerOf } from "./policy.js";
import { setSessionEnd } from "./session-end-clock.js";
import type { Step } from "./step.js";
import { failedCommands, isOnBase } from "./unlanded.js";

type Command = Trigger["commands"][number];

/**
 * What a trigger's command came to is kept and counts at once, whatever becomes of the trigger: a failure that is not
 * allowed is a finding and replaces what its commands had found, anything else closes what this one had found.
 */
export function judgeCommand(step: Step, event: CommandEnded, command: Command): boolean {
  const { ref } = command;
  recordCommand(step, event);
  logDiscarded(step, ref, event);
  // One that was stopped has no result to allow.
  const allowed = !isPass(event) && !event.stopped && mayFail(step.policy, ref);
  const failed = !isPass(event) && !allowed;
  if (allowed) logAllowed(step, ref, event);
  if (failed) raiseFailure(step, event, command);
  else if (!isToRunAgain(step, ref)) closeOwn(step, ref, isPass(event));
  if (isOnBase(step)) step.set({ failedOnBase: failedCommands(step) });
  return failed;
}

/** The same name stands further down with another command: what the two have found is told apart by nothing. */
function isToRunAgain({ state, policy }: Step, ref: string): boolean {
  const left = triggerOf(policy)?.commands.slice(state.sessionEnd?.results.length) ?? [];
  return left.some((command) => command.ref === ref);
}

function recordCommand(step: Step, event: CommandEnded): void {
  const { sessionEnd } = step.state;
  if (!sessionEnd || event.stopped) return;
  const { root } = sessionEnd;
  const at = event.outputPath.lastIndexOf(`/${sessionEnd.folder}/`);
  const found = root === "" && at > 0 ? event.outputPath.slice(0, at + 1) : root;
  const output =
    found !== "" && event.outputPath.startsWith(found) ? event.outputPath.slice(found.length) : event.outputPath;
  const { exitCode: exit, timedOut, seconds } = event;
  setSessionEnd(step, { root: found, results: [...sessionEnd.results, { exit, timedOut, seconds, output }] });
}

function raiseFailure(step: Step, event: CommandEnded, { ref: reviewer, command }: Command): void {
  const remarks = [commandRemark(event, { name: reviewer, command })];
  const visit = step.state.sessionEndRuns;
  const stage = triggerName(step.policy);
  const keep = step.apply(add(step.ledger, visitOf(step, { stage, source: "command", reviewer, visit, remarks })));
  closeOthers(step, stage, { keep, passed: false, visit, sources: ["command"] });
}

function closeOwn(step: Step, reviewer: string, passed: boolean): void {
  const visit = step.state.sessionEndRuns;
  closeOthers(step, triggerName(step.policy), { keep: [], passed, visit, sources: ["command"], reviewer });
}
