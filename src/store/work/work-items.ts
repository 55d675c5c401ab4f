import type { ItemStatus } from "../../core/ports/tracker.js";
import type { WorkItem, WorkItems } from "../../core/ports/work-items.js";
import { appendFollowUp } from "../follow-up.js";
import { listProjects } from "../projects.js";
import type { Sql } from "../sql.js";
import type { Wake } from "../wake.js";
import { addItem } from "./work-add.js";
import { type Afresh, beginAfresh, isToSettle, noteSettled } from "./work-afresh.js";
import { boardChanged, boardCursor } from "./work-changed.js";
import {
  addDeps,
  changeStatus,
  claimItem,
  failItem,
  operatorStatement,
  releaseItem,
  removeDeps,
  settleItem,
} from "./work-changes.js";
import { claimEpic, completeEpic, readChildren, readDueEpics } from "./work-epics.js";
import { listItems } from "./work-list.js";
import { appendEvent, escalateItem, joinRework, liftEscalation, setPayload } from "./work-payload.js";
import { readCompletion, readInPullRequests } from "./work-pull-requests.js";
import { type ReadyQuery, readReady } from "./work-ready.js";
import {
  eventStatement,
  type ItemKey,
  isRetried,
  isStopped,
  readItem,
  readWorkEvents,
  type WorkEvent,
} from "./work-rows.js";
import { addOnce, readEscalated, readOfPullRequest, readRework, succeedItem } from "./work-succeed.js";

/** What the `work` commands need besides what a run does. Refused changes throw Refusal. */
export interface Board extends WorkItems {
  complete(projectId: string, id: string, note: string | null): Promise<boolean>;
  /** `work fail`: requeued until the third failure, then quarantined. Returns what it became. */
  failItem(projectId: string, id: string, reason: string): Promise<ItemStatus>;
  block(projectId: string, id: string, reason: string | null): Promise<void>;
  unblock(projectId: string, id: string): Promise<void>;
  /**
   * Its failures are forgotten; one that waits for a person by escalation is marked so no longer. `inPullRequest`: it
   * waits in one that is open, and goes on there.
   */
  retry(projectId: string, id: string, how?: { readonly inPullRequest: boolean }): Promise<void>;
  /** No later life builds on the lives that it has had; said also of an item of another tracker. */
  beginAfresh(projectId: string, id: string, afresh: Afresh): Promise<boolean>;
  /** Somebody stops whoever works on it; said before they are told, and also of an item of another tracker. */
  noteStop(projectId: string, id: string): Promise<void>;
  addDeps(projectId: string, id: string, on: readonly string[]): Promise<void>;
  removeDeps(projectId: string, id: string, on: readonly string[]): Promise<void>;
  /** The best ready item, claimed; null: there is none. */
  claimNext(
    projectId: string,
    claim: { readonly holder: string; readonly leaseUntil: number | null },
  ): Promise<WorkItem | null>;
  heartbeat(
    projectId: string,
    id: string,
    lease: { readonly holder: string; readonly leaseUntil: number },
  ): Promise<boolean>;
  events(projectId: string, id: string): Promise<WorkEvent[]>;
}

export interface BoardShared {
  readonly sql: Sql;
  readonly now: () => number;
  readonly committed: () => void;
  readonly wake: Wake;
}

type After = <T>(change: Promise<T>) => Promise<T>;

export function openBoard({ sql, now, committed, wake }: BoardShared): Board {
  const after: After = async (change) => {
    const result = await change;
    committed();
    return result;
  };
  return {
    ...pullRequestItems({ sql, now, after }),
    add: (item) => after(addItem(sql, item, { now: now() })),
    get: (projectId, id) => readItem(sql, { projectId, id }, now()),
    list: (query) => listItems(sql, query, now()),
    ready: (query) => readReady(sql, query),
    isRetried: (projectId, id) => isRetried(sql, { projectId, id }),
    isStopped: (projectId, id, runId) => isStopped(sql, { projectId, id }, runId),
    noteStop: async (projectId, id) =>
      void (await after(sql.batch([eventStatement({ projectId, id }, { type: "stopped", at: now() })]))),
    cursor: () => boardCursor(sql),
    changed: (projectId, cursor, signal) => boardChanged({ sql, wake }, { projectId, cursor }, signal),
    claim: (projectId, id, claim) => after(claimItem(sql, { projectId, id }, claim)),
    claimNext: (projectId, claim) => after(claimNext(sql, projectId, { ...claim, now: now() })),
    heartbeat: (projectId, id, { holder, leaseUntil }) =>
      after(renewLease(sql, { projectId, id, holder, leaseUntil, now: now() })),
    release: (projectId, id, holder, to = "available") =>
      after(releaseItem(sql, { projectId, id }, { holder, to, now: now() })),
    settle: (projectId, id, holder, to) => after(settleItem(sql, { projectId, id }, { holder, to, now: now() })),
    complete: (projectId, id, note) =>
      after(settleItem(sql, { projectId, id }, { holder: null, to: completed(note), now: now() })),
    failItem: (projectId, id, reason) => after(failItem(sql, { projectId, id }, { reason, now: now() })),
    block: (projectId, id, reason) => after(changeStatus(sql, { projectId, id }, { how: "block", reason, now: now() })),
    unblock: (projectId, id) =>
      after(changeStatus(sql, { projectId, id }, { how: "unblock", reason: null, now: now() })),
    retry: (projectId, id, how) =>
      after(retryItem(sql, { projectId, id }, { inPullRequest: false, ...how, now: now() })),
    beginAfresh: (projectId, id, afresh) => after(beginAfresh(sql, { projectId, id }, { ...afresh, now: now() })),
    isToSettle: (projectId, id) => isToSettle(sql, { projectId, id }),
    noteSettled: (projectId, id) => noteSettled(sql, { projectId, id }, now()),
    addDeps: (projectId, id, on) => after(addDeps(sql, { projectId, id }, on, now())),
    removeDeps: (projectId, id, on) => after(removeDeps(sql, { projectId, id }, on, now())),
    dueEpics: (query) => readDueEpics(sql, query),
    childrenOf: (projectId, epic) => readChildren(sql, { projectId, id: epic }, now()),
    claimEpic: (projectId, epic, holder) => after(claimEpic(sql, { projectId, id: epic }, { holder, now: now() })),
    completeEpic: (projectId, epic, by) => after(completeEpic(sql, { projectId, id: epic }, { ...by, now: now() })),
    appendFollowUp: (projectId, source, text) => after(appendFollowUp(sql, { projectId, source, ...text, now: now() })),
    events: (projectId, id) => readWorkEvents(sql, { cursor: 0, limit: 10_000, item: { projectId, id } }),
  };
}

/** What the items of a pull request need. */
function pullRequestItems({ sql, now, after }: Pick<BoardShared, "sql" | "now"> & { readonly after: After }) {
  return {
    addOnce: (item, told = []) => after(addOnce(sql, item, { told, now: now() })),
    succeed: (projectId, id, next) => after(succeedItem(sql, { projectId, id }, { ...next, now: now() })),
    joinRework: (projectId, id, more) => after(joinRework(sql, { projectId, id }, { ...more, now: now() })),
    setPayload: (projectId, id, patch) => after(setPayload(sql, { projectId, id }, { patch, now: now() })),
    escalate: (projectId, id, how) => after(escalateItem(sql, { projectId, id }, { ...how, now: now() })),
    appendEvent: (projectId, id, event) => after(appendEvent(sql, { projectId, id }, { event, now: now() })),
    rework: (projectId, prNumber, cycle) => readRework(sql, { projectId, prNumber, cycle }, now()),
    ofPullRequest: (projectId, prNumber) => readOfPullRequest(sql, { projectId, prNumber }, now()),
    inPullRequests: (projectId) => readInPullRequests(sql, projectId, now()),
    completion: (projectId, id) => readCompletion(sql, { projectId, id }),
    escalated: async (projectId, limit) =>
      readEscalated(sql, { projectIds: await projectIdsOf(sql, projectId), limit }, now()),
  } satisfies Partial<WorkItems>;
}

async function projectIdsOf(sql: Sql, projectId: string | null): Promise<string[]> {
  return projectId === null ? (await listProjects(sql)).map(({ id }) => id) : [projectId];
}

async function retryItem(
  sql: Sql,
  key: ItemKey,
  { inPullRequest, now }: { readonly inPullRequest: boolean; readonly now: number },
): Promise<void> {
  const retry = { how: "retry", reason: null, now } as const;
  // Work that waits in a pull request goes on there: it is not begun anew.
  const along = inPullRequest ? [] : [operatorStatement(key, retry)];
  if (await liftEscalation(sql, key, { along, now })) return;
  await changeStatus(sql, key, retry);
}

function completed(note: string | null) {
  return { status: "completed", reason: note, commit: null } as const;
}

async function claimNext(
  sql: Sql,
  projectId: string,
  claim: { readonly holder: string; readonly leaseUntil: number | null; readonly now: number },
): Promise<WorkItem | null> {
  const query: ReadyQuery = { projectId, scope: { type: "all" }, resume: false, limit: 1, now: claim.now };
  for (;;) {
    const [best] = await readReady(sql, query);
    if (best === undefined) return null;
    if (await claimItem(sql, { projectId, id: best.id }, { ...claim, fresh: true })) {
      return { ...best, status: "claimed", claimedBy: claim.holder, leaseUntil: claim.leaseUntil };
    }
  }
}

async function renewLease(
  sql: Sql,
  lease: {
    readonly projectId: string;
    readonly id: string;
    readonly holder: string;
    readonly leaseUntil: number;
    readonly now: number;
  },
): Promise<boolean> {
  const [rows] = await sql.batch([
    {
      sql: `UPDATE work_items SET lease_until = ?, updated_at = ? WHERE project_id = ? AND id = ? AND status = 'claimed'
        AND claimed_by = ? AND lease_until > ? RETURNING no`,
      params: [lease.leaseUntil, lease.now, lease.projectId, lease.id, lease.holder, lease.now],
    },
  ]);
  return rows?.length === 1;
}
