import type { TurnOutcome } from "../../core/issue/events.js";
import { asDiskFull } from "../../lib/disk-full.js";
import { messageOf } from "../../lib/errors.js";

/**
 * What was told of a turn counts whatever has become of the place it worked in: its session, and what it used. A place that
 * cannot be looked at breaks the turn, since nothing is judged that was not seen.
 */
export async function settleTold<T extends { readonly outcome: TurnOutcome }>(
  told: T,
  look: () => Promise<T>,
): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (asDiskFull(error) !== null) throw error;
    return { ...told, outcome: { type: "failed", reason: messageOf(error), broke: true } };
  }
}
