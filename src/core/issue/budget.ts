import { awayUntil, countedFrom, overBudget } from "../budget.js";
import type { Step } from "./step.js";

/**
 * Spending limits. A running turn is never cut short by them: an issue's own budget is asked at the end of each turn and
 * before the next one, the run's only before the next, so that work which needs no further turn still lands. Time in
 * which no process was at work on the life is not counted.
 */
export function isOverBudget(step: Step): boolean {
  if (isSpent(step)) return true;
  const { runBudget, turns } = step.state;
  if (runBudget === undefined) return false;
  const message = `The run's budget is used up: ${runBudget}`;
  // Nothing was tried yet, so there is nothing for a person to look at.
  if (turns === 0) step.end({ status: "interrupted", error: "budget", message, commit: null });
  else step.end({ status: "escalated", error: "budget", message, commit: null });
  return true;
}

/** Escalates when the issue's own budget is used up. */
export function isSpent(step: Step): boolean {
  const over = ownOver(step);
  if (over === null) return false;
  step.end({ status: "escalated", error: "budget", message: `The issue's budget is used up: ${over}`, commit: null });
  return true;
}

/** Which budget forbids a further turn; null: none does. */
export function usedUp(step: Step): string | null {
  return ownOver(step) ?? step.state.runBudget ?? null;
}

function ownOver({ policy, state, at }: Step): string | null {
  // A trigger of the run is no issue: only the run's budget counts.
  if (policy.trigger) return null;
  return overBudget(policy.settings.budgets.issue, { ...state.usage, ms: at - countedFrom(state) });
}

/** The life goes on in a new process. False: no time has been lost. */
export function leaveOut(step: Step, since: number | undefined): boolean {
  const awayMs = awayUntil(step.state, since, step.at);
  if (awayMs === (step.state.awayMs ?? 0)) return false;
  step.set({ awayMs });
  return true;
}
