import { cpus, freemem } from "node:os";
import { relative } from "node:path";
import { formatDiagnostic } from "../../config/diagnostic.js";
import { type Context, findRoot } from "../context.js";

/** Needs no repository with commits, not even git: a file can be checked before anything else exists. */
export async function checkConfig(context: Context, { json }: { readonly json?: boolean }): Promise<number> {
  const { cwd, env, out } = context;
  const { loadConfig } = await import("../../config/load.js");
  const dir = findRoot(cwd) ?? cwd;
  const machine = { cores: cpus().length, freeMemoryBytes: freemem() };
  const loaded = await loadConfig({ dir, env, flags: {}, machine });
  const diagnostics = loaded.ok ? loaded.warnings : loaded.diagnostics;
  if (json) out.json({ diagnostics });
  else if (loaded.ok) {
    out.line(`${relative(dir, loaded.file)} is fine`);
    for (const warning of diagnostics) out.line(formatDiagnostic(warning));
  } else for (const diagnostic of diagnostics) out.note(formatDiagnostic(diagnostic));
  return loaded.ok ? 0 : 2;
}

export async function printSchema({ out }: Context): Promise<number> {
  const { configJsonSchema } = await import("../../config/json-schema.js");
  out.json(configJsonSchema());
  return 0;
}
