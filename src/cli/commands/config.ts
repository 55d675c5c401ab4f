import { cpus, freemem } from "node:os";
import { relative } from "node:path";
import { type Diagnostic, diagnosticAt, formatDiagnostic } from "../../config/diagnostic.js";
import type { Loaded } from "../../config/load.js";
import { shellWord } from "../../views/shell-word.js";
import { type Context, findRoot } from "../context.js";

/** Needs no repository with commits, not even git: a file can be checked before anything else exists. */
export async function checkConfig(context: Context, { json }: { readonly json?: boolean }): Promise<number> {
  const { cwd, env, out } = context;
  const { loadConfig } = await import("../../config/load.js");
  const dir = findRoot(cwd) ?? cwd;
  const machine = { cores: cpus().length, freeMemoryBytes: freemem() };
  const loaded = await loadConfig({ dir, env, flags: {}, machine });
  const prompts = await context.app.checkPrompts(dir);
  const refused = prompts.filter(({ severity }) => severity === "error");
  const wrong = [...(loaded.ok ? await checkWorkflow(context, loaded) : loaded.diagnostics), ...refused];
  const isFine = loaded.ok && wrong.length === 0;
  const remarks = prompts.filter((one) => !refused.includes(one));
  const diagnostics = [...wrong, ...(loaded.ok ? loaded.warnings : []), ...remarks];
  if (json) out.json({ diagnostics });
  else if (isFine) {
    out.line(`${relative(dir, loaded.file)} is fine`);
    for (const warning of diagnostics) out.line(formatDiagnostic(warning));
  } else for (const diagnostic of diagnostics) out.note(formatDiagnostic(diagnostic));
  return isFine ? 0 : 2;
}

type Checked = Extract<Loaded, { readonly ok: true }>;

/** The file that a setting names is a part of the configuration: a run would refuse it. */
async function checkWorkflow({ app }: Context, { settings, placeOf }: Checked): Promise<Diagnostic[]> {
  const { workflow } = settings.agent;
  if (workflow === null) return [];
  const path = ["agent", "workflow"];
  const tell = (message: string, hint: string) => [diagnosticAt(placeOf(path), { path, message, hint })];
  const workflows = await app.workflows();
  const found = workflows.find(workflow);
  if (found === null) {
    const hint = `looked in ${workflows.folders().join(", ")}; ratchet workflow list shows what there is`;
    return tell(`there is no workflow ${workflow}`, hint);
  }
  const { graph, diagnostics } = await workflows.load(found);
  if (graph !== null && diagnostics.every(({ severity }) => severity !== "error")) return [];
  return tell(`${found} cannot be run`, `ratchet workflow validate ${shellWord(workflow)}`);
}

export async function printSchema({ out }: Context): Promise<number> {
  const { configJsonSchema } = await import("../../config/json-schema.js");
  out.json(configJsonSchema());
  return 0;
}
