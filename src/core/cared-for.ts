import type { Issue, Tracker } from "./ports/tracker.js";

interface Around {
  readonly tracker: Tracker;
  /** The local board. */
  readonly board: { get(projectId: string, id: string): Promise<{ readonly leaseUntil?: number | null } | null> };
  readonly projectId: string;
}

/** Done, or claimed by a run, which others work along with. What a person has claimed is not done by any of them. */
export async function isCaredFor({ tracker, board, projectId }: Around, { id, status }: Issue): Promise<boolean> {
  if (status !== "claimed") return status === "completed";
  if (tracker.kind === "local") return (await board.get(projectId, id))?.leaseUntil == null;
  return ((await tracker.standing?.(id))?.obstacle ?? null) === null;
}
