import { addUsage, overBudget, type Spent } from "../../core/budget.js";
import type { Usage } from "../../core/issue/events.js";
import type { WorkflowContext, WorkflowRun } from "./context.js";

/** How the run's budget is used up by now; null: it is not. Its minutes are counted here where the run is a workflow. */
export function runBudget({ meter, settings, clock, countedFrom }: WorkflowRun): string | null {
  const over = meter.over();
  if (over !== null || countedFrom === undefined) return over;
  return overBudget(
    { ...settings.budgets.run, usd: null, tokens: null },
    { ...nothing, ms: clock.now() - countedFrom },
  );
}

/** How the issue's budget is used up by now, by what it had used before and all that the workflow has. */
export function issueBudget(context: WorkflowContext): string | null {
  const { run, budget } = context;
  if (!budget) return null;
  return overBudget(run.settings.budgets.issue, { ...spentBy(context), ms: run.clock.now() - budget.startedAt });
}

/** By the issue before, the workflows that call this one, and this one with its turns that its state does not count yet. */
export function spentBy({ budget, life, live }: WorkflowContext): Spent {
  const { usage, owed } = life().state;
  const before = budget?.spent() ?? nothing;
  const spent = { tokens: before.tokens + usage.tokens, usd: before.usd + usage.usd };
  return owed
    .flatMap(({ key }) => live.get(key) ?? [])
    .reduce((total: Spent, one: Usage) => addUsage(total, one), spent);
}

const nothing: Spent = { tokens: 0, usd: 0 };
