import { formatDiagnostic } from "../../config/diagnostic.js";
import type { Settings } from "../../core/settings.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { explainPlan, renderPlan } from "../../views/plan.js";
import { shellWord } from "../../views/shell-word.js";
import { explanationsOf } from "../commands/explain.js";
import type { Context } from "../context.js";
import { checkScope } from "./check-scope.js";
import { leftRunLine } from "./left-runs.js";
import { type Plan, planRun } from "./plan.js";
import { type RunFlags, toConfigFlags, toWanted, type Wanted } from "./request.js";
import { driveSeries } from "./series.js";

/** `ratchet run`: everything that can be wrong is found before anything starts. */
export async function runIssues(
  context: Context,
  ids: readonly string[],
  flags: RunFlags & { readonly withoutSummary?: boolean },
): Promise<number> {
  const wanted = toWanted(ids, flags);
  const settings = await prepare(context, flags);
  const stuck = await checkScope(context, wanted, settings);
  const options = { ...wanted, maxIssues: settings.max_issues };
  const { json = false, withoutSummary = false } = flags;
  if (flags.dryRun)
    return await printPlan(context, flags, { plan: await planRun(context, wanted, settings), settings });
  refuseStuck(wanted, stuck);
  const code = await driveSeries(context, { settings, options, json, withoutSummary });
  // What was asked for by name and could not be done is no success.
  return code === 0 && stuck.length > 0 ? 1 : code;
}

/** A run of nothing but what cannot run would end well and have done nothing. */
function refuseStuck({ scope, watch = false }: Wanted, stuck: readonly string[]): void {
  if (scope.type !== "ids" || watch || stuck.length < scope.ids.length) return;
  const hint = stuck.map((id) => `ratchet explain ${id}`).join("\n");
  throw new Refusal(`${stuck.join(", ")} cannot run now`, { code: "not-ready", hint });
}

/** The settings, with their warnings told, and a branch to land on. */
export async function prepare({ app, out }: Context, flags: RunFlags): Promise<Settings> {
  const { settings, warnings } = await app.settings(toConfigFlags(flags));
  for (const warning of warnings) out.note(formatDiagnostic(warning));
  const { branch } = await app.repository();
  if (branch === null && settings.finalize.into === null) {
    throw new UserError("the checkout is detached, so there is no branch to land on", {
      hint: "check out a branch, or set finalize.into in ratchet.yaml",
      code: "detached",
    });
  }
  return settings;
}

interface Planned {
  readonly plan: Plan;
  readonly settings: Settings;
}

function nothingPlanned({ left, continued }: Plan): string {
  const [first] = left;
  const none = continued.length === 0 ? "no issue would be taken" : "no other issue would be taken";
  if (first === undefined) return none;
  const more = left.length > 1 ? `; ${left.length} are open, --explain says why of each` : "";
  return `${none}${more}; ratchet explain ${shellWord(first)} says why that one is not`;
}

async function printPlan(context: Context, { json, explain }: RunFlags, { plan, settings }: Planned): Promise<number> {
  const { out } = context;
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
