/** What the parsers and the checker have to say; `workflow validate --json` prints them as they are. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  /** kebab-case, stable: `unknown-stage`, `unreachable`, `syntax`. */
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
  readonly line: number;
  readonly column: number;
}
export interface Parsed<G> {
  /** null: too broken to go on with; there is an error then. */
  readonly graph: G | null;
  readonly diagnostics: readonly Diagnostic[];
}
