import { randomBytes } from "node:crypto";
import type { Store } from "../../app.js";
import { closeAfresh } from "../../core/ledger/afresh.js";
import type { Issue, ItemStatus } from "../../core/ports/tracker.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { type ForeignTracker, foreignHint, foreignName } from "../../views/foreign-tracker.js";
import { shellWord } from "../../views/shell-word.js";
import { openTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";
import { foreignTracker } from "../foreign-tracker.js";
import { refuseInPullRequest } from "../hands-off.js";
import { typed } from "../typed.js";
import { refuseInUse } from "../worktree-use.js";
import type { ItemOptions } from "./work-change.js";

/**
 * The next life of an issue begins as if it were the first. Whatever is there is put aside, not deleted; the findings stay
 * as history; the lives before are counted, and none builds on them. First everything is asked that speaks against it.
 */
export async function beginAfresh(context: Context, id: string, options: ItemOptions): Promise<number> {
  const { app } = context;
  const { id: projectId } = await app.project();
  if (options.project !== undefined && options.project !== projectId) {
    throw new UserError("--afresh is about a worktree: it works in the issue's own repository", {
      hint: "ratchet project list says where that is",
    });
  }
  const store = await app.store();
  const item = await store.workItems.get(projectId, id);
  if (item !== null) return await ofBoard(context, { store, item }, options);
  const foreign = await foreignTracker(context);
  if (foreign !== null) return await ofTracker(context, { store, projectId, id, foreign }, options);
  throw new Refusal(`no item ${typed(id)} in ${projectId}`, { code: "not-found", hint: "ratchet work list --all" });
}

/** Claimed meanwhile, where a run could take it. */
async function ofBoard(
  context: Context,
  { store, item }: { readonly store: Store; readonly item: WorkItem },
  options: ItemOptions,
): Promise<number> {
  const { id, projectId } = item;
  const board = store.workItems;
  await refuseInUse(context, id);
  refuseKind(item);
  refuseStatus(item);
  await refuseInPullRequest(
    context,
    item,
    (pr) => `close pull request #${pr} to give its work up, then ratchet pr sync`,
  );
  const holder = `shell-${process.pid}-${randomBytes(3).toString("hex")}`;
  const isHeld = await board.claim(projectId, id, { holder, leaseUntil: Date.now() + leaseMs, now: Date.now() });
  if (!isHeld) refuseStatus((await board.get(projectId, id)) ?? item);
  try {
    const given = await giveUp(context, { store, projectId, id });
    await board.retry(projectId, id, holder);
    const { status } = (await board.get(projectId, id)) ?? item;
    return told(context, options, { id, status, ...given });
  } catch (error) {
    await board.release(projectId, id, holder, item.status);
    throw error;
  }
}
/** One whose process was killed holds it no longer than this. */
const leaseMs = 5 * 60_000;

/** What is Ratchet's own of it is put aside here; where it is ready again is said there. */
async function ofTracker(
  context: Context,
  { foreign, ...place }: { store: Store; projectId: string; id: string; foreign: ForeignTracker },
  options: ItemOptions,
): Promise<number> {
  const { app, out } = context;
  const { settings } = await app.settings({});
  await refuseInUse(context, place.id);
  const issue = await (await openTracker(context, settings)).get(place.id);
  if (issue === null) {
    throw new Refusal(`no issue ${typed(place.id)} in ${foreignName(foreign)}`, { code: "not-found" });
  }
  // As the tracker calls it, whatever was typed.
  const { id } = issue;
  const isDone = (await app.untold(settings.tracker.type)).some((one) => one.op === "complete" && one.issueId === id);
  const status = isDone ? "completed" : issue.status;
  refuseKind(issue);
  refuseStatus({ id, status });
  const given = await giveUp(context, { ...place, id });
  if (status !== "available") out.note(`it is taken once it is ready there: ${foreignHint(foreign, "retry", id)}`);
  return told(context, options, { id, status, ...given });
}

function refuseKind({ id, type, payload }: Issue & Partial<Pick<WorkItem, "payload">>): void {
  const hint = { code: "wrong-status", hint: `ratchet explain ${shellWord(id)}` };
  if (type === "epic") throw new Refusal(`${id} is an epic, which nobody works on itself`, hint);
  if (payload && payload.source !== "implement") {
    throw new Refusal(`${id} is an item of pull request #${payload.pr_number ?? "?"}, not an issue`, hint);
  }
}

const may: readonly ItemStatus[] = ["available", "failed", "quarantined", "waiting_for_response"];

function refuseStatus({ id, status, claimedBy }: Pick<Issue, "id" | "status"> & Partial<WorkItem>): void {
  if (may.includes(status)) return;
  const by = status === "claimed" && claimedBy ? ` by ${claimedBy}` : "";
  throw new Refusal(`${id} is ${status}${by}, so it cannot be begun afresh`, {
    code: "wrong-status",
    hint: `ratchet explain ${shellWord(id)} says how it stands`,
  });
}

interface GivenUp {
  readonly parked: readonly string[];
  readonly superseded: number;
}

async function giveUp(
  { app }: Context,
  { store, projectId, id }: { readonly store: Store; readonly projectId: string; readonly id: string },
): Promise<GivenUp> {
  const parked = await (await app.worktrees()).putAllAside(id);
  const open = await store.findings({ projectId, issueId: id, all: false });
  for (const finding of open) await store.closeDirect({ projectId, ...closeAfresh(finding, Date.now()) });
  await store.workItems.noteAfresh(projectId, id);
  return { parked, superseded: open.length };
}

function told(
  { out }: Context,
  { json }: ItemOptions,
  { id, status, parked, superseded }: GivenUp & { readonly id: string; readonly status: ItemStatus },
): number {
  if (json) {
    out.json({ id, status, afresh: true, parked, superseded });
    return 0;
  }
  out.line(`${id} is ${status}: its next life begins afresh`);
  for (const ref of parked) out.line(`what it had is put aside as ${ref}`);
  if (parked.length > 0) out.line(`ratchet worktree restore ${shellWord(id)} brings that back`);
  if (superseded > 0) {
    const what = superseded === 1 ? "1 open finding is" : `${superseded} open findings are`;
    out.line(`${what} superseded: ratchet findings ${shellWord(id)} --all`);
  }
  return 0;
}
