import { formatDiagnostic } from "../../config/diagnostic.js";
import type { Settings } from "../../core/settings.js";
import { Refusal } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { type Checked, checkScope } from "./check-scope.js";
import { tellHeldUp } from "./left-runs.js";
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
  const checked = await checkScope(context, wanted, settings);
  const options = { ...wanted, maxIssues: settings.max_issues };
  const { json = false, withoutSummary = false } = flags;
  if (flags.dryRun) {
    const { printPlan } = await import("./print-plan.js");
    return await printPlan(context, flags, { wanted, settings });
  }
  refuseStuck(wanted, checked);
  return await driveSeries(context, { settings, options, json, withoutSummary, isEmpty: checked.isEmpty });
}

/** A run of nothing but what cannot run would end well and have done nothing. */
function refuseStuck({ watch = false }: Wanted, { stuck, isEmpty }: Checked): void {
  if (watch || !isEmpty || stuck.length === 0) return;
  const hint = stuck.map((id) => `ratchet explain ${id}`).join("\n");
  throw new Refusal(`${stuck.join(", ")} cannot run now`, { code: "not-ready", hint });
}

/** The settings, with what is to be said of them and of the prompts told; there is a branch to land on. */
export async function prepare(context: Context, flags: RunFlags): Promise<Settings> {
  try {
    return await loadSettings(context, flags);
  } catch (error) {
    // Why nothing starts is what has to be told, also where this cannot be.
    await tellHeldUp(context).catch(() => undefined);
    throw error;
  }
}

async function loadSettings({ app, out }: Context, flags: RunFlags): Promise<Settings> {
  const { settings, warnings } = await app.settings(toConfigFlags(flags));
  const prompts = (await app.checkPrompts(await app.root())).filter(({ severity }) => severity !== "error");
  for (const warning of [...warnings, ...prompts]) out.note(formatDiagnostic(warning));
  await app.target(settings);
  return settings;
}
