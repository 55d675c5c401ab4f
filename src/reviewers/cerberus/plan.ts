import type { CerberusSettings } from "../../core/settings.js";

/** What the adapter tells the driver, in one variable. */
export interface Plan {
  /** For cerberus's state and what it is given: below the attempt's folder. */
  readonly folder: string;
  /** For the whole review. */
  readonly timeoutSeconds: number;
  readonly spawnArgs: readonly string[];
  readonly waitArgs: readonly string[];
}

export const planVariable = "RATCHET_CERBERUS";

/** The driver ends the review in time, with a reason; these seconds later it is ended itself. */
const graceSeconds = 30;

/** A wait that ends before the review goes on in the background: it is asked for once more, if there is time. */
export const waits = 2;

/** From its start to its verdict. A --timeout among the wait_args is the user's own: where it is longer, it counts. */
export function reviewSeconds({ timeout, wait_args }: Pick<CerberusSettings, "timeout" | "wait_args">): number {
  return Math.max(timeout, waitTimeout(wait_args) ?? 0);
}

export function callTimeoutSeconds(settings: Pick<CerberusSettings, "timeout" | "wait_args">): number {
  return reviewSeconds(settings) + graceSeconds;
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
