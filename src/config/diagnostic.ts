import type { Path, Place } from "./source.js";

type Severity = "error" | "warning" | "info";

/** One remark about the configuration. `line` and `column` count from 1; null where the value comes from no file. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** The setting (`per_issue_review.max_retries`), the environment variable or the flag; "" for the whole file. */
  readonly key: string;
  readonly message: string;
  readonly hint?: string;
}

/** `ratchet.yaml:12:5: per_issue_review.max_retries: expected a whole number of 0 or more, found -1` */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, severity, key, message, hint } = diagnostic;
  const place = line === null ? file : `${file}:${line}:${column ?? 1}`;
  const parts = [place, severity === "error" ? "" : severity, key, message].filter((part) => part !== "");
  return parts.join(": ") + (hint === undefined ? "" : `\n  hint: ${hint.replaceAll("\n", "\n  ")}`);
}

/** What is said at a place, about the setting at `path`. */
export interface Remark {
  readonly path: Path;
  readonly message: string;
  readonly severity?: Severity;
  readonly hint?: string | undefined;
}

export function diagnosticAt(place: Place, remark: Remark): Diagnostic {
  const { file, line, column } = place;
  const setting = keyText(remark.path);
  const key = place.around ? `${place.key}: ${setting}` : (place.key ?? setting);
  const hint = remark.hint === undefined ? {} : { hint: remark.hint };
  return { severity: remark.severity ?? "error", file, line, column, key, message: remark.message, ...hint };
}

/** `per_issue_review.panel[1].name` */
export function keyText(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += `${text === "" ? "" : "."}${/^[\w-]{1,64}$/.test(part) ? part : quoted(part)}`;
  }
  return text;
}

/** A value as it is shown in "found …": short, on one line, without the password of an address. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? quoted(value) : String(value);
}

export function quoted(text: string): string {
  const shown = text.slice(0, 400).replace(/(:\/\/[^/@\s:]*):[^@\s]*@/, "$1:***@");
  return JSON.stringify(shown.length > 60 ? `${shown.slice(0, 57)}...` : shown);
}

/** In the order of the file, then what comes from the environment and the command line; each thing said once. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const unique = new Map(diagnostics.map((one) => [`${formatDiagnostic(one)}`, one]));
  const order = (one: Diagnostic): number => one.line ?? Number.MAX_SAFE_INTEGER;
  return [...unique.values()].sort((a, b) => order(a) - order(b) || (a.column ?? 0) - (b.column ?? 0));
}
