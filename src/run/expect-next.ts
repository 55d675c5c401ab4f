import type { TurnEffect } from "../core/issue/effects.js";
import type { LifeContext } from "./context.js";

/** What comes next may be a turn, too, and goes before a new issue. That is known when the end is recorded. */
export function expectNext({ run, issueId, state }: LifeContext, { key }: TurnEffect): void {
  const isLast = !state().owed.some((other) => other.kind === "turn" && other.key !== key);
  if (isLast) run.slots.expect(issueId);
}
