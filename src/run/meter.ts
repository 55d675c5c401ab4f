import { addUsage, overBudget, type Spent } from "../core/budget.js";
import type { Usage } from "../core/issue/events.js";
import type { Budget } from "../core/settings.js";

/** What all turns of a run have cost. Its minutes are the run machine's own timer. */
export interface Meter {
  /** Counts a turn that ended; how the budget is used up by now, or null. */
  add(turn: string, usage: Usage | null): string | null;
  /** What a running turn has used so far; how the budget is used up by now, or null. */
  running(turn: string, usage: Usage): string | null;
  over(): string | null;
}

export function createMeter(budget: Budget, spentBefore: Spent): Meter {
  let spent = spentBefore;
  const live = new Map<string, Usage>();
  const over = () => {
    const all = [...live.values()].reduce(addUsage, spent);
    return overBudget({ ...budget, minutes: null }, { ...all, ms: 0 });
  };
  return {
    over,
    add: (turn, usage) => {
      live.delete(turn);
      if (usage !== null) spent = addUsage(spent, usage);
      return over();
    },
    running: (turn, usage) => {
      live.set(turn, usage);
      return over();
    },
  };
}
