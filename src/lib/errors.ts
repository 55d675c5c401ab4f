/** Bad input or configuration: one sentence and a hint, exit 2, no stack. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly hint: string | null;
  readonly code: string;
  constructor(
    message: string,
    options: { readonly hint?: string; readonly code?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint ?? null;
    this.code = options.code ?? "usage";
  }
}

/** Not found, refused or failed: one sentence and a hint, exit 1, no stack. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly hint: string | null;
  readonly code: string;
  constructor(message: string, options: { readonly hint?: string; readonly code?: string } = {}) {
    super(message);
    this.hint = options.hint ?? null;
    this.code = options.code ?? "refused";
  }
}

/** Something outside failed: a program, the disk, the tracker. */
export class ExternalError extends Error {
  override readonly name = "ExternalError";
  readonly what: string;
  readonly retryable: boolean;
  /** What was asked for had been done when this happened. */
  readonly isDone: boolean;
  readonly hint: string | null;
  constructor(
    what: string,
    message: string,
    options: {
      readonly retryable?: boolean;
      readonly isDone?: boolean;
      readonly hint?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.what = what;
    this.retryable = options.retryable ?? false;
    this.isDone = options.isDone ?? false;
    this.hint = options.hint ?? null;
  }
}

/** A broken promise of our own: shown with its stack. */
export class Bug extends Error {
  override readonly name = "Bug";
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error (ENOENT, EEXIST, …), or null. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
