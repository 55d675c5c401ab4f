import type { Priority } from "../core/finding.js";
import type { Issue } from "../core/ports/tracker.js";
import type { Budget, Settings } from "../core/settings.js";
import { type Explanation, renderExplanation } from "./explain.js";
import { formatPriority } from "./format.js";

export interface PlanFacts {
  readonly taken: readonly Issue[];
  readonly beyond: readonly Issue[];
  readonly left: readonly Explanation[];
  /** What is not completed yet: only that is waited for. */
  readonly open: ReadonlySet<string>;
  readonly settings: Pick<Settings, "budgets" | "max_issues">;
}

/** What `run --dry-run --explain` tells besides the ids. */
export interface PlanTold {
  readonly order: readonly {
    readonly issue_id: string;
    readonly priority: Priority;
    readonly after: readonly string[];
  }[];
  readonly not_taken: readonly Explanation[];
  readonly budgets: Settings["budgets"];
}

export function explainPlan({ taken, beyond, left, open, settings }: PlanFacts): PlanTold {
  const limit = (issue: Issue): Explanation => ({
    issue_id: issue.id,
    state: issue.status,
    running: false,
    reason: `max_issues is ${settings.max_issues}, and others are taken before it`,
    blockers: [],
    next: null,
  });
  return {
    order: taken.map(({ id, priority, deps }) => ({
      issue_id: id,
      priority,
      after: deps.filter((dep) => open.has(dep)),
    })),
    not_taken: [...beyond.map(limit), ...left],
    budgets: settings.budgets,
  };
}

export function renderPlan({ order, not_taken, budgets }: PlanTold): string[] {
  const taken = order.map(({ issue_id, priority, after }, at) => {
    const line = `${at + 1}. ${issue_id} (${formatPriority(priority)})`;
    return after.length === 0 ? line : `${line}, after ${after.join(", ")}`;
  });
  const rest = not_taken.flatMap((one) => renderExplanation(one));
  return [
    ...(taken.length === 0 ? ["No issue would be taken."] : taken),
    ...(rest.length === 0 ? [] : ["", "Not taken:", ...rest]),
    "",
    `Budget of an issue: ${budgetText(budgets.issue)}; of the run: ${budgetText(budgets.run)}`,
  ];
}

function budgetText({ usd, tokens, minutes }: Budget): string {
  const parts = Object.entries({ USD: usd, tokens, minutes }).flatMap(([unit, limit]) =>
    limit === null ? [] : [`${limit} ${unit}`],
  );
  return parts.length === 0 ? "no limit" : parts.join(", ");
}
