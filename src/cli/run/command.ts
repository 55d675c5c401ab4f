import { formatDiagnostic } from "../../config/diagnostic.js";
import type { Settings } from "../../core/settings.js";
import { UserError } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { checkScope } from "./check-scope.js";
import { planRun } from "./plan.js";
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
  await checkScope(context, wanted);
  const options = { ...wanted, maxIssues: settings.max_issues };
  if (flags.dryRun) return await printPlan(context, wanted, settings);
  const { json = false, withoutSummary = false } = flags;
  return await driveSeries(context, { settings, options, json, withoutSummary });
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

async function printPlan(context: Context, wanted: Wanted, settings: Settings): Promise<number> {
  for (const id of await planRun(context, wanted, settings)) context.out.line(id);
  return 0;
}
