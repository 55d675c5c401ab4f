import type { Context } from "../context.js";
import { diagnosticLine, findWorkflow, hasErrors } from "./workflow-load.js";

/** Exit 1 on errors, 0 with warnings only. */
export async function validateWorkflow(
  context: Context,
  what: string,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { app, out } = context;
  const file = await findWorkflow(context, what, "refused");
  const loaded = await (await app.workflows()).load(file);
  if (json) out.json({ file, diagnostics: loaded.diagnostics });
  else {
    for (const diagnostic of loaded.diagnostics) out.line(diagnosticLine(context, file, diagnostic));
    if (!hasErrors(loaded)) out.line(`${what} is fine`);
  }
  return hasErrors(loaded) ? 1 : 0;
}
