import type { EpicName, Epics, Issue } from "../../core/ports/tracker.js";
import { change, hasChanged } from "./change.js";
import { assigneeOf, type Claims } from "./claims.js";
import { readIssue } from "./freed.js";
import { isClosed, listWhere, showAll, showBead, showListed } from "./issues.js";
import type { Beads } from "./program.js";
import type { Bead } from "./read.js";
import { scopeTest } from "./ready.js";

/**
 * Epics in beads. What depends on an epic as its child is in its details; an answer without any is one of an epic
 * without children, which is never due. The run that completes one holds it, so that two never close it.
 */
export function openEpics(beads: Beads, claims: Claims): Epics {
  const children = async (epic: string): Promise<Issue[]> => {
    const bead = await showBead(beads, epic);
    const found: Issue[] = [];
    for await (const child of showAll(beads, bead?.children.map(({ id }) => id) ?? []))
      found.push(await readIssue(beads, child));
    return found;
  };
  const claim = async (epic: string, holder: string): Promise<boolean> => {
    const bead = await showBead(beads, epic);
    return bead !== null && isDue(bead) && (await claims.claimEpic(epic, holder));
  };
  return {
    children,
    claim,
    due: async ({ scope, holder }) => {
      const isInScope = scopeTest(beads, scope);
      const due: EpicName[] = [];
      for await (const bead of showListed(beads, () => listWhere(beads, "--type=epic"))) {
        const isMine = bead.assignee === null || bead.assignee === assigneeOf(holder) || (await claims.isIdle(bead));
        const isWithin = (scope.type === "epic" && scope.epic === bead.id) || (await isInScope(bead));
        if (isDue(bead) && isMine && isWithin) due.push({ id: bead.id, isTop: bead.parent === null });
      }
      return due;
    },
    complete: async (epic, holder, note) => {
      const bead = await showBead(beads, epic);
      if (bead !== null && isClosed(bead.status)) return bead.assignee === assigneeOf(holder);
      if (!(await claim(epic, holder))) return false;
      const close = ["close", epic, `--reason=${note}`] as const;
      await change(beads, { id: epic, args: close, actor: assigneeOf(holder) }, ({ status }) => isClosed(status));
      return true;
    },
    release: async (epic, holder) => {
      const bead = await showBead(beads, epic);
      if (bead?.status !== "in_progress" || bead.assignee !== assigneeOf(holder)) return;
      const free = ["update", epic, "--status=open", "--assignee="] as const;
      await change(beads, { id: epic, args: free, actor: assigneeOf(holder) }, (now) => hasChanged(bead, now));
    },
  };
}

function isDue({ type, status, children, blockers }: Bead): boolean {
  if (type !== "epic" || (status !== "open" && status !== "in_progress")) return false;
  return children.length > 0 && [...children, ...blockers].every((each) => isClosed(each.status));
}
