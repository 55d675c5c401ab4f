import type { CerberusSettings } from "../../core/settings.js";

/** What the adapter tells the driver, in one variable. */
export interface Plan {
  /** For cerberus's state and what it is given: below the attempt's folder. */
  readonly folder: string;
  readonly timeoutSeconds: number;
  readonly spawnArgs: readonly string[];
  readonly waitArgs: readonly string[];
}

export const planVariable = "RATCHET_CERBERUS";

/** cerberus ends by its own timeout first, with a reason; these seconds later it is ended. */
export const graceSeconds = 30;

/** Starting and waiting may each take the timeout. A --timeout among the wait_args is the user's own. */
export function callTimeoutSeconds(settings: Pick<CerberusSettings, "timeout" | "wait_args">): number {
  return settings.timeout + (waitTimeout(settings.wait_args) ?? settings.timeout) + 2 * graceSeconds;
}

export function waitTimeout(args: readonly string[]): number | null {
  for (const [index, arg] of args.entries()) {
    const value = /^--?timeout(?:=(.*))?$/.exec(arg);
    if (value) return toSeconds(value[1] ?? args[index + 1] ?? "");
  }
  return null;
}

function toSeconds(text: string): number | null {
  return /^\d{1,6}$/.test(text) ? Number(text) : null;
}
