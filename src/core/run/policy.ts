import type { ItemStatus } from "../ports/tracker.js";
import type { Settings } from "../settings.js";
import { verificationOf } from "../verification.js";
import type { RunOptions } from "./effects.js";
import type { RunPolicy } from "./step.js";

/** Lives that wait, to land or for a person, hold no place: so many may there be for each agent, and so many at least in all. */
const livesPerAgent = 4;
const livesAtLeast = 64;

/** How many issues a run may have begun that have not ended: its row has them all, and each has a checkout. */
export function livesMaxOf({ max_agents }: Pick<Settings, "max_agents">): number {
  return Math.max(livesAtLeast, livesPerAgent * max_agents);
}

interface EpicAhead {
  readonly status: ItemStatus;
  readonly isInScope: boolean;
  /** As they are before the run. */
  readonly children: readonly { readonly status: ItemStatus }[];
}

/**
 * Whether a run comes to look at an epic at all, once everything in it is done: it looks for those in its scope, and above
 * each issue, or epic, that it has completed itself. What it does not look at stays open, however done it is.
 */
export function seesToEpic(
  { findsEpics = false, verify }: Pick<RunPolicy, "findsEpics" | "verify">,
  { status, isInScope, children }: EpicAhead,
): boolean {
  if (status === "blocked" || verify === "later") return false;
  return (findsEpics && isInScope) || children.some((child) => child.status !== "completed");
}

/** What a run is decided by. A landing or a push that a person asked for is no run of theirs: nothing else fires, nobody reviews. */
export function runPolicy(settings: Settings, options: RunOptions): RunPolicy {
  const { validation_triggers: triggers, budgets } = settings;
  const lands = options.only === "land" || options.only === "push";
  const isReviewed = verificationOf(settings) !== null;
  // Whoever leaves a review out for once has not said that nobody shall ever verify an epic.
  const isLater = isReviewed ? lands : settings.left_out_reviewer !== undefined;
  const verify = isLater ? "later" : isReviewed ? "now" : "never";
  const findsEpics = options.scope.type === "all" || options.scope.type === "epic";
  const livesMax = livesMaxOf(settings);
  return { ...options, livesMax, minutes: budgets.run.minutes, verify, findsEpics, ...(lands ? {} : { triggers }) };
}
