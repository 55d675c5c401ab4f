import type { ItemStatus } from "../core/ports/tracker.js";

/** Why an issue that is not done is not taken, and what helps; in the order in which a person would look. */
const waiting: readonly (readonly [ItemStatus, (count: number) => string])[] = [
  ["failed", (count) => `${count} failed (ratchet run --resume)`],
  ["waiting_for_response", (count) => `${count} ${count === 1 ? "waits" : "wait"} for a person (ratchet retry <id>)`],
  ["quarantined", (count) => `${count} quarantined (ratchet retry <id>)`],
  ["blocked", (count) => `${count} blocked (ratchet work unblock <id>)`],
  ["claimed", (count) => `${count} claimed (ratchet status)`],
  ["available", (count) => `${count} not ready yet (ratchet explain <id>)`],
];

/** What is left where nothing is ready; null: nothing is. */
export function waitingLine(statuses: readonly ItemStatus[]): string | null {
  const parts = waiting.flatMap(([status, say]) => {
    const count = statuses.filter((one) => one === status).length;
    return count === 0 ? [] : [say(count)];
  });
  return parts.length === 0 ? null : `nothing is ready: ${parts.join(", ")}`;
}
