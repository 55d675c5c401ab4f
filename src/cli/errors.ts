import { appendFileSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigInvalid } from "../app.js";
import { type Diagnostic, formatDiagnostic } from "../config/diagnostic.js";
import { plainText } from "../core/plain-text.js";
import { ExternalError, messageOf, Refusal, UserError } from "../lib/errors.js";
import { makeFolder } from "../lib/files.js";
import { ratchetHome } from "../lib/home.js";
import type { External } from "./context.js";
import type { Output } from "./output.js";

/** An error as a person is told it. */
export interface Told {
  readonly exit: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  /** What is printed: a sentence and a hint, every diagnostic, or a stack. */
  readonly text: string;
}

/** `external`: the exit code of what failed outside; a run that cannot go on has its own. */
export function tellError(error: unknown, external: External): Told {
  if (error instanceof ConfigInvalid) {
    const text = error.diagnostics.map(formatDiagnostic).join("\n");
    return { exit: 2, code: error.code, ...messageAndHint(error.diagnostics), text };
  }
  if (error instanceof UserError) return sentence(error, { exit: 2, code: error.code });
  if (error instanceof Refusal) return sentence(error, { exit: 1, code: error.code });
  if (error instanceof ExternalError) {
    const exit = external === "tracker" ? (error.what === "tracker" ? 3 : 1) : external;
    return sentence(error, { exit, code: error.what.replaceAll(" ", "-") });
  }
  const message = messageOf(error);
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  const hint = "this is a mistake in Ratchet: please report it with the lines above";
  return { exit: external === "tracker" ? 1 : external, code: "bug", message, hint, text: `${stack}\n  ${hint}` };
}

/** For programs, what is wrong apart from what to do; of several mistakes each hint names its setting. */
function messageAndHint(diagnostics: readonly Diagnostic[]): Pick<Told, "message" | "hint"> {
  const message = diagnostics.map(({ hint: _, ...rest }) => formatDiagnostic(rest)).join("\n");
  const named = (key: string) => (key === "" || diagnostics.length === 1 ? "" : `${key}: `);
  const hints = diagnostics.flatMap(({ key, hint }) => (hint === undefined ? [] : `${named(key)}${hint}`));
  return { message, hint: hints.length === 0 ? null : hints.join("\n") };
}

function sentence(
  error: UserError | Refusal | ExternalError,
  { exit, code }: { readonly exit: number; readonly code: string },
): Told {
  const { message, hint } = error;
  const text = `ratchet: ${message}${hint === null ? "" : `\n  hint: ${hint.replaceAll("\n", "\n  ")}`}`;
  return { exit, code, message, hint, text };
}

/** For programs. */
export function errorJson({ code, message, hint }: Told): Pick<Told, "code" | "message" | "hint"> {
  return { code, message, hint };
}

export function printError(told: Told, out: Output, json: boolean): void {
  if (json) out.jsonLine({ error: errorJson(told) });
  // What others said may be in it.
  else out.note(plainText(told.text));
}

/** What belongs to no run is kept in the state home's own log, where that can be written. */
export function keepInLog(env: NodeJS.ProcessEnv, text: string): void {
  try {
    const { log } = ratchetHome(env);
    makeFolder(dirname(log));
    appendFileSync(log, `${new Date().toISOString()} error ${text}\n`, { mode: 0o600 });
  } catch {
    // The user has the message on the screen; a state home that cannot be used is often what it says.
    return;
  }
}
