import type { Settings } from "../../core/settings.js";
import { explainPlan, renderPlan } from "../../views/plan.js";
import { shellWord } from "../../views/shell-word.js";
import { explanationsOf } from "../commands/explain.js";
import type { Context } from "../context.js";
import { leftRunLine } from "./left-runs.js";
import { type Plan, planRun } from "./plan.js";
import type { RunFlags, Wanted } from "./request.js";

/** `ratchet run --dry-run`: what it would take, one a line; with --explain also why, and why not the others. */
export async function printPlan(
  context: Context,
  { json, explain }: RunFlags,
  { wanted, settings }: { readonly wanted: Wanted; readonly settings: Settings },
): Promise<number> {
  const { out } = context;
  const plan = await planRun(context, wanted, settings);
  const { taken, continued: continues } = plan;
  const issues = taken.map(({ id }) => id);
  for (const run of json ? [] : continues) out.note(leftRunLine(run));
  if (!explain) {
    if (json) out.json({ dry_run: true, issues, continues });
    else for (const id of issues) out.line(id);
    if (issues.length === 0) out.note(nothingPlanned(plan));
    return 0;
  }
  const told = explainPlan({ ...plan, left: await explanationsOf(context, plan.left), settings });
  if (json) out.json({ dry_run: true, issues, continues, ...told });
  else for (const line of renderPlan(told)) out.line(line);
  return 0;
}

function nothingPlanned({ left, continued }: Plan): string {
  const [first] = left;
  const none = continued.length === 0 ? "no issue would be taken" : "no other issue would be taken";
  if (first === undefined) return none;
  const more = left.length > 1 ? `; ${left.length} are open, --explain says why of each` : "";
  return `${none}${more}; ratchet explain ${shellWord(first)} says why that one is not`;
}
