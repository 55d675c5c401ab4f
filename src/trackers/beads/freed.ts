import type { Issue } from "../../core/ports/tracker.js";
import { isClosed, showBead, toIssue } from "./issues.js";
import type { Beads } from "./program.js";
import type { Bead } from "./read.js";

/**
 * An issue that has failed is ready again when the last of what it waits for is closed after that, by whomever: as on our
 * own board. beads has no word for it, but the times of both. Whatever changes the issue later, its next failure above
 * all, makes it failed again; so each end counts once.
 */
export async function readIssue(beads: Beads, bead: Bead): Promise<Issue> {
  const issue = toIssue(bead);
  const changedAt = issue.status === "failed" ? await freedAt(beads, bead) : null;
  return changedAt === null ? issue : { ...issue, status: "available", changedAt };
}

/** null: it was not, or beads does not tell. A time to come is another machine's clock, by which it would be free for ever. */
async function freedAt(beads: Beads, { blockers, changedAt }: Bead): Promise<number | null> {
  if (changedAt === null || blockers.some(({ status }) => status !== null && !isClosed(status))) return null;
  let last = 0;
  for (const { id, closedAt } of blockers) last = Math.max(last, closedAt ?? (await closedAtOf(beads, id)));
  return last > changedAt && last <= Date.now() ? last : null;
}

/** Details of the one program have no times of others. */
async function closedAtOf(beads: Beads, id: string): Promise<number> {
  return (await showBead(beads, id))?.closedAt ?? 0;
}
