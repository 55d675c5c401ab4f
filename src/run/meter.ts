import { addUsage, overBudget, type Spent } from "../core/budget.js";
import type { Usage } from "../core/issue/events.js";
import type { Budget } from "../core/settings.js";

/** What all turns of a run have cost. Its minutes are the run machine's own timer. */
export interface Meter {
  /** Counts a turn that ended; how the budget is used up by now, or null. */
  add(usage: Usage | null): string | null;
  over(): string | null;
}

export function createMeter(budget: Budget, spentBefore: Spent): Meter {
  let spent = spentBefore;
  const over = () => overBudget({ ...budget, minutes: null }, { ...spent, ms: 0 });
  return {
    over,
    add: (usage) => {
      if (usage !== null) spent = addUsage(spent, usage);
      return over();
    },
  };
}
