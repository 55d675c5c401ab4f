import type { Issue, ItemStatus, Tracker } from "../core/ports/tracker.js";
import type { WorkItem, WorkItems } from "../core/ports/work-items.js";
import { ExternalError } from "../lib/errors.js";

/** How an issue's end is told: asking again after a crash finds it told already. */
type Ending = Parameters<WorkItems["settle"]>[3];

/** What failed may be out of the queue since, or in it again: then it has failed for what is told. */
function isTold({ status, failureReason }: WorkItem, to: Ending): boolean {
  if (status === to.status || to.status !== "failed") return status === to.status;
  return status === "quarantined" || (status === "available" && failureReason === to.reason);
}

/** The board as a tracker: claims are held by runs, without a lease, as long as the run lives. */
export function localTracker(workItems: WorkItems, projectId: string, clock: { now(): number } = Date): Tracker {
  const claim = (id: string, holder: string, any = false): Promise<boolean> =>
    workItems.claim(projectId, id, { holder, leaseUntil: null, now: clock.now(), any });
  const settle = async (id: string, holder: string, to: Ending): Promise<void> => {
    if (await workItems.settle(projectId, id, holder, to)) return;
    const item = await workItems.get(projectId, id);
    if (item !== null && isTold(item, to)) return;
    // The work is done, and nobody else has it.
    const isFree = to.status === "completed" && item?.status === "available" && (await claim(id, holder));
    if (!isFree || !(await workItems.settle(projectId, id, holder, to))) throw lostClaim(id, holder, item);
  };
  const release = async (id: string, holder: string, to: ItemStatus = "available"): Promise<void> => {
    if (await workItems.release(projectId, id, holder, to)) return;
    const item = await workItems.get(projectId, id);
    if (item?.status === "claimed" && item.claimedBy === holder) throw lostClaim(id, holder, item);
  };
  return {
    kind: "local",
    ready: async (query) =>
      (await workItems.ready({ ...query, projectId, now: clock.now(), sources: "issues" })).map(toIssue),
    get: async (id) => {
      const item = await workItems.get(projectId, id);
      return item === null ? null : toIssue(item);
    },
    cursor: () => workItems.cursor(),
    changed: (cursor, signal) => workItems.changed(projectId, cursor, signal),
    claim: (id, holder, how) => claim(id, holder, how?.any),
    complete: (id, holder, { commit, note }) => settle(id, holder, { status: "completed", reason: note, commit }),
    fail: (id, holder, reason, how) => {
      const as = how?.resumed ? { resumed: true as const } : { mayQuarantine: true as const };
      return settle(id, holder, { status: "failed", reason, commit: null, ...as });
    },
    escalate: async (id, holder, reason) => {
      await settle(id, holder, { status: "waiting_for_response", reason, commit: null });
      await workItems.escalate(projectId, id, { reason, event: { type: "human_escalation", reason } });
    },
    release: (id, holder) => release(id, holder),
    giveBack: release,
    epics: {
      due: (query) => workItems.dueEpics({ ...query, projectId, now: clock.now() }),
      children: async (epic) => (await workItems.childrenOf(projectId, epic)).map(toIssue),
      claim: (epic, holder) => workItems.claimEpic(projectId, epic, holder),
      complete: (epic, holder, note) => workItems.completeEpic(projectId, epic, { holder, note }),
      release: (epic, holder) => release(epic, holder),
    },
    followUp: (source, text) => workItems.appendFollowUp(projectId, source, text),
  };
}

function toIssue(item: WorkItem): Issue {
  const { id, title, body, type, parent, deps, priority, status, followUpOf = null, begun = true } = item;
  return { id, title, body, type, parent, deps, priority, status, followUpOf, begun, changedAt: item.updatedAt };
}

function lostClaim(id: string, holder: string, item: WorkItem | null): ExternalError {
  const now =
    item === null ? "is gone" : `is ${item.status}${item.claimedBy === null ? "" : `, held by ${item.claimedBy}`}`;
  return new ExternalError("tracker", `${id} is no longer held by ${holder}: it ${now}`, {
    hint: `ratchet work show ${id}`,
  });
}
