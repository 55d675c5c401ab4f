import type { CommandPlace } from "./events.js";
import { triggerName } from "./policy.js";
import type { IssueState, SessionEndState } from "./state.js";
import type { Step } from "./step.js";

/**
 * The clock of a trigger's overall timeout: a timer that is owed until what is left of it has gone by. It stands still
 * while a fixer works, while an exclusive command waits for its turn, and while the database is waited for.
 */
export function runClock(step: Step): void {
  const { sessionEnd } = step.state;
  if (!sessionEnd || sessionEnd.timer) return;
  const timerUntil = step.at + sessionEnd.remainingMs;
  setSessionEnd(step, { timer: step.oweTimer(triggerName(step.policy), timerUntil), timerUntil });
}

export function stopClock(step: Step): void {
  const { sessionEnd } = step.state;
  if (!sessionEnd?.timer) return;
  step.cancel(sessionEnd.timer);
  setSessionEnd(step, { timer: null, remainingMs: Math.max(0, sessionEnd.timerUntil - step.at) });
}

/** Gives back what has gone by since it last began to run: nobody knows how long Ratchet was away. */
export function rewindClock(step: Step): void {
  const { sessionEnd } = step.state;
  if (!sessionEnd?.timer) return;
  step.cancel(sessionEnd.timer);
  setSessionEnd(step, { timer: null });
  runClock(step);
}

/** What has begun to run could only be recorded, and so begun, so much later: that is not its time. */
export function giveTimeBack(step: Step, lateMs: number): void {
  const { sessionEnd } = step.state;
  if (sessionEnd?.timer) setSessionEnd(step, { timerUntil: sessionEnd.timerUntil + lateMs });
}

/** Its timer has fired. True: some time was given back since that was set, so it goes on. */
export function hasTimeLeft(step: Step): boolean {
  const { sessionEnd } = step.state;
  if (!sessionEnd || sessionEnd.timerUntil <= step.at) return false;
  setSessionEnd(step, { timer: null, remainingMs: sessionEnd.timerUntil - step.at });
  runClock(step);
  return true;
}

/** One that has ended meanwhile waits for nothing; past a timeout, a stop or an abort there is no clock. */
export function afterPlace(step: Step, { key, has }: CommandPlace): void {
  const { sessionEnd, owed, halt } = step.state;
  if (!sessionEnd || sessionEnd.timedOut || halt !== null || !owed.some((one) => one.key === key)) return;
  if (has) runClock(step);
  else stopClock(step);
  setSessionEnd(step, { queued: has ? null : key });
}

/** Of a command that is owed and has not begun, because others of its name are at work. */
export function queuedCommand({ sessionEnd, owed }: IssueState): string | null {
  return owed.find(({ key }) => key === sessionEnd?.queued)?.key ?? null;
}

export function setSessionEnd(step: Step, patch: Partial<SessionEndState>): void {
  const { sessionEnd } = step.state;
  if (sessionEnd) step.set({ sessionEnd: { ...sessionEnd, ...patch } });
}
