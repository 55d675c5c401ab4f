import { gcLines } from "../../views/gc.js";
import type { Context } from "../context.js";

/** `ratchet gc`: the plan is made first and shown as it is carried out. */
export async function clearAway(
  { app, out }: Context,
  { dryRun = false, json = false }: { readonly dryRun?: boolean; readonly json?: boolean },
): Promise<number> {
  const { settings } = await app.settings({});
  const { plan, perform } = await app.gc(settings);
  if (!dryRun) await perform();
  if (json) out.json({ dry_run: dryRun, actions: plan.actions, kept: plan.kept });
  else for (const line of gcLines(plan, dryRun)) out.line(line);
  return 0;
}
