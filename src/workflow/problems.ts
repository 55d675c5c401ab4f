import type { Diagnostic } from "./diagnostic.js";
import type { Position } from "./position.js";

export interface Problem {
  readonly at: Position;
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
}

const mostErrors = 100;
const mostWarnings = 500;

/** What is wrong with one file. Bounded, so that ten megabytes of nonsense give a list that a person can read. */
export class Problems {
  private readonly told: Diagnostic[] = [];
  private errors = 0;
  private warnings = 0;

  error(problem: Problem): void {
    this.errors++;
    if (this.errors <= mostErrors) this.tell("error", problem);
  }

  warning(problem: Problem): void {
    this.warnings++;
    if (this.warnings <= mostWarnings) this.tell("warning", problem);
    if (this.warnings === mostWarnings + 1)
      this.tell("warning", { at: problem.at, rule: "more-warnings", message: "further warnings are not shown" });
  }

  /** Nobody reads on after so many: the reader stops. */
  isFull(): boolean {
    return this.errors >= mostErrors;
  }

  hasErrors(): boolean {
    return this.errors > 0;
  }

  /** In the order of the file. */
  list(): Diagnostic[] {
    return this.told.toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  private tell(severity: Diagnostic["severity"], { at, rule, message, hint }: Problem): void {
    this.told.push({
      severity,
      rule,
      message,
      ...(hint === undefined ? {} : { hint }),
      line: at.line,
      column: at.column,
    });
  }
}
