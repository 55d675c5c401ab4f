import type { IssuePolicy } from "./policy.js";
import type { Ending, IssueState } from "./state.js";
import type { Step } from "./step.js";

/**
 * Whether the issue has a claim that somebody can take away. A trigger of the run has none; neither has one that was
 * completed when its landing by hand began: then the tracker has said its last word.
 */
export function canBeTakenAway({ was }: Pick<IssueState, "was">, { trigger, options }: Claimed): boolean {
  if (trigger !== undefined) return false;
  return options.only !== "land" || was !== undefined;
}

type Claimed = { readonly trigger?: unknown; readonly options: Pick<IssuePolicy["options"], "only"> };

/** Somebody has closed the issue, blocked, deleted or taken it: its work is nobody's any more, however it would have ended. */
export function endTakenAway(step: Step, how: string): void {
  step.end(endingOf(how));
}

/**
 * The same, noticed when the tracker was to be told that the work came to nothing: nobody is left to be told, and what
 * would have aborted the run for it does not.
 */
export function replaceByTakenAway(step: Step, how: string): void {
  const { ending } = step.state;
  if (ending) step.log("info", `It would have ended ${ending.status}: ${ending.message}`);
  step.set({ ending: endingOf(how), abortRun: false });
}

function endingOf(how: string): Ending {
  const word = how === "completed" ? "closed" : how;
  const message = `The issue was ${word} by someone else meanwhile: not landed, the branch is kept`;
  return { status: "interrupted", message, error: "closed", commit: null };
}
