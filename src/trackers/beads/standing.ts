import type { Standing } from "../../core/ports/tracker.js";
import { holderOf, type TakeOver } from "./claims.js";
import { isClosed, showBead } from "./issues.js";
import type { Beads } from "./program.js";

/** Whose an issue is: a run's, or a person's, whose plan no run touches. */
export async function readStanding(beads: Beads, id: string, takeOver: TakeOver | null): Promise<Standing> {
  const bead = await showBead(beads, id);
  const assignee = bead?.assignee ?? null;
  if (bead === null || isClosed(bead.status) || assignee === null) return { claim: null, obstacle: null };
  // An open issue that has an assignee is a plan, whoever made it.
  const holder = bead.status === "open" ? null : holderOf(assignee);
  if (holder !== null) {
    return { claim: { holder, isOver: (await takeOver?.isOver(holder)) ?? false }, obstacle: null };
  }
  const obstacle = { reason: `it is assigned to ${assignee}`, next: `${beads.program} update ${id} --assignee=` };
  return { claim: null, obstacle };
}
