import { openFindings } from "../ledger/ledger.js";
import { isHeldUp, isObjectedTo } from "./blocking.js";
import { isSpent } from "./budget.js";
import type { TurnEnded } from "./events.js";
import { brokenPreconditions, landsNothing } from "./preconditions.js";
import { isUnchanged } from "./progress.js";
import { afterRework } from "./pull-request.js";
import { afterFailedFixer } from "./review.js";
import type { Work } from "./state.js";
import type { Step } from "./step.js";
import { endFixer, settleTurn } from "./turns.js";

/** An implementer's turn, or a remediating fixer's, is over: the gate judges what it left, unless nothing changed. */
export function afterTurn(step: Step, event: TurnEnded) {
  const result = settleTurn(step, event);
  const { turn, work, gate, review } = step.state;
  if (!result || !turn) return;
  endFixer(step, event.outcome.type);
  if (step.state.halt) return;
  if (isSpent(step)) return;
  const { error, message } = result;
  if (error !== null && turn.role === "fixer") return afterFailedFixer(step, { error, message });
  if (error !== null) return step.fail(error, message);
  if (!event.snapshot || !work) return step.fail("worktree_failed", "The worktree could not be read after the turn");
  step.set({
    turn: null,
    marker: turn.role === "implementer" ? event.marker : null,
    gate: { ...gate, next: "session-ending" },
  });
  // What only a gate has seen may be as good as it gets: that may pass by now, and no reviewer knows it.
  const isReviewed = review.seen === null || review.seen === work.tree;
  const same = isReviewed && isUnchanged(step, work);
  const objects = turn.role === "implementer" && isObjectedTo(step, event.rejected ?? []);
  if (turn.judged && same && isHeldUp(step) && !objects && !answersGate(step, work)) {
    return step.fail("no_progress", "No progress: the tree is the one that the last check saw");
  }
  if (step.policy.item) return afterRework(step, step.policy.item);
  step.go("gating");
}

/** The gate had something against the same tree, and would let this turn's marker pass: that it has not seen. */
function answersGate(step: Step, work: Work): boolean {
  const { state, ledger } = step;
  if (!landsNothing(state) || openFindings(ledger, { stages: ["gate"] }).length === 0) return false;
  return brokenPreconditions(step, work).length === 0;
}
