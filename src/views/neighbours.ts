import type { ItemStatus } from "../core/ports/tracker.js";

/** status null: it is not there. */
export interface Neighbour {
  readonly id: string;
  readonly status: ItemStatus | null;
  readonly isEpic?: true;
}

const listedMost = 10;

export function listOf(neighbours: readonly Neighbour[]): string {
  const shown = neighbours.slice(0, listedMost).map(({ id, status }) => `${id} (${status ?? "not on the board"})`);
  const rest = neighbours.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
}
