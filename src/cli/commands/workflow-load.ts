import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { LoadedWorkflow } from "../../app.js";
import { Refusal, UserError } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { typed } from "../typed.js";

type Diagnostic = LoadedWorkflow["diagnostics"][number];

/** By its file or its name. `missing`: how it is told that there is none. */
export async function findWorkflow(context: Context, what: string, missing: "refused" | "usage"): Promise<string> {
  const file = (await context.app.workflows()).find(what);
  if (file !== null) return file;
  const told = { code: "not-found", hint: "ratchet workflow list shows those that have a name" };
  const isThere = existsSync(resolve(context.cwd, what));
  const message = isThere ? `${typed(what)} is no file, so no workflow` : `there is no workflow ${typed(what)}`;
  if (missing === "usage") throw new UserError(message, told);
  throw new Refusal(message, told);
}

export function diagnosticLine(context: Context, file: string, diagnostic: Diagnostic): string {
  const { severity, message, hint, line, column, rule } = diagnostic;
  const place = relative(context.cwd, file);
  const shown = place.startsWith("..") ? file : place;
  return `${shown}:${line}:${column}: ${severity}: ${message} (${rule})${hint === undefined ? "" : `\n  hint: ${hint}`}`;
}

export function hasErrors({ graph, diagnostics }: LoadedWorkflow): boolean {
  return graph === null || diagnostics.some(({ severity }) => severity === "error");
}
