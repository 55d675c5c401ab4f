import type { Settings } from "../core/settings.js";
import { refuseUnavailable, type Validation, validations } from "./availability.js";
import { type Diagnostic, diagnosticAt, sortDiagnostics, valueText } from "./diagnostic.js";
import { explainIssues } from "./issues.js";
import { malaKeys, translateMala } from "./mala.js";
import { type ConfigFlags, overlayEnvironment, overlayFlags, placeOfFlag } from "./overlay.js";
import { resolveSettings } from "./resolve.js";
import { rejectRetired } from "./retired.js";
import { checkRules } from "./rules.js";
import { configSchema } from "./schema/root.js";
import { type Path, type Place, placeOf, type Source } from "./source.js";
import { nearest } from "./suggest.js";
import { noteUnusedReviewers } from "./unused-reviewers.js";
import { readYamlSource } from "./yaml-source.js";

/** Everything the settings depend on besides the text of the file. */
export interface ConfigContext {
  /** The folder of the configuration file: relative paths in it start there. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ConfigFlags;
  readonly machine: { readonly cores: number; readonly freeMemoryBytes: number };
}

export type Checked =
  | {
      readonly ok: true;
      readonly settings: Settings;
      readonly warnings: readonly Diagnostic[];
      /** Where a setting was written, for what only others can find wrong with it. */
      readonly placeOf: (path: Path) => Place;
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

const maxDiagnostics = 200;

/** The whole check without any IO. `file` is the name shown in messages; one that ends in mala.yaml is read as such. */
export function checkConfigText(text: string, file: string, context: ConfigContext): Checked {
  const read = readYamlSource(text, file);
  if (read.source === null) return { ok: false, diagnostics: read.diagnostics };
  const isMala = /(^|[/\\])mala\.yaml$/.test(file);
  const source: Source = isMala ? { ...read.source, moreKeys: malaKeys } : read.source;
  const found = [...read.diagnostics, ...(isMala ? translateMala(source) : []), ...rejectRetired(source)];
  found.push(...overlayEnvironment(source, context.env), ...overlayFlags(source, context.flags));
  const flags = readFlags(context.flags);
  found.push(...flags.diagnostics);
  // A file is read once: functions made for it would cost more than they save.
  const parsed = configSchema.safeParse(source.root, { jitless: true });
  if (!parsed.success) found.push(...explainIssues(source, parsed.error.issues));
  found.push(...checkRules(source), ...refuseUnavailable(source));
  const isWrong = !parsed.success || found.some(({ severity }) => severity === "error");
  if (isWrong) return { ok: false, diagnostics: limited(sortDiagnostics(found), file) };
  const { disabled, maxReviewRetries } = flags;
  const settings = resolveSettings(parsed.data, { ...context, disabled, maxReviewRetries });
  const warnings = sortDiagnostics([...found, ...noteUnusedReviewers(source, settings)]);
  return { ok: true, settings, warnings, placeOf: (path) => placeOf(source, path) };
}

interface Flags {
  readonly disabled: ReadonlySet<Validation>;
  readonly maxReviewRetries: number | null;
  readonly diagnostics: readonly Diagnostic[];
}

function readFlags({ disableValidations = [], maxReviewRetries }: ConfigFlags): Flags {
  const disabled = new Set<Validation>();
  const diagnostics: Diagnostic[] = [];
  const complain = (flag: string, message: string, hint?: string) =>
    diagnostics.push(diagnosticAt(placeOfFlag(flag), { path: [], message, hint }));
  for (const name of disableValidations) {
    const known = validations.find((validation) => validation === name);
    if (known !== undefined) disabled.add(known);
    else {
      const near = nearest(name, validations);
      const hint = near === null ? undefined : `did you mean ${near}?`;
      complain("--disable-validations", `expected some of ${validations.join(", ")}, found ${valueText(name)}`, hint);
    }
  }
  const retries = maxReviewRetries === undefined ? null : wholeNumberOf(maxReviewRetries);
  if (retries !== null && Number.isNaN(retries)) {
    complain("--max-review-retries", `expected a whole number of 0 or more, found ${JSON.stringify(maxReviewRetries)}`);
  }
  return { disabled, maxReviewRetries: retries, diagnostics };
}

function wholeNumberOf(value: number | string): number {
  const number = typeof value === "number" ? value : /^\d+$/.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : Number.NaN;
}

function limited(diagnostics: readonly Diagnostic[], file: string): readonly Diagnostic[] {
  if (diagnostics.length <= maxDiagnostics) return diagnostics;
  const message = `and ${diagnostics.length - maxDiagnostics} more problems`;
  const rest: Diagnostic = { severity: "error", file, line: null, column: null, key: "", message };
  return [...diagnostics.slice(0, maxDiagnostics), rest];
}
