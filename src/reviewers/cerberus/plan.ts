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

/** A review that is not done in time goes on in the background: it is asked for once more before it counts as none. */
export const waits = 2;

/** Starting and each waiting may take the timeout. A --timeout among the wait_args is the user's own. */
export function callTimeoutSeconds(settings: Pick<CerberusSettings, "timeout" | "wait_args">): number {
  const wait = waitTimeout(settings.wait_args) ?? settings.timeout;
  return settings.timeout + waits * wait + (1 + waits) * graceSeconds;
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
