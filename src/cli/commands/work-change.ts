import { randomBytes } from "node:crypto";
import type { Store } from "../../app.js";
import { plainLine } from "../../core/plain-text.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { shellWord } from "../../views/shell-word.js";
import { type Context, chooseProject } from "../context.js";
import { refuseForeign } from "../foreign-tracker.js";
import {
  endPullRequest,
  holdingRun,
  inPullRequest,
  openPullRequestOf,
  refuseHeldByRun,
  refuseInPullRequest,
  refuseLeft,
} from "../hands-off.js";
import { findLife } from "../life.js";
import { typed } from "../typed.js";

export interface ItemOptions {
  readonly project?: string;
  readonly json?: boolean;
  readonly reason?: string;
  readonly note?: string;
}
export interface ClaimOptions extends ItemOptions {
  readonly as?: string;
}

/** A claim from a shell ends by itself: nobody can tell whether its holder still lives. */
const leaseMs = 15 * 60_000;

interface Place {
  readonly board: Store["workItems"];
  readonly projectId: string;
}

async function openBoard(context: Context, { project }: ItemOptions): Promise<Place> {
  const { id } = await chooseProject(context, project);
  return { board: (await context.app.store()).workItems, projectId: id };
}

/** The board on which the item is, or would be: one that is elsewhere is refused with the place. */
async function openItem(
  context: Context,
  { id, change = "change" }: { readonly id: string; readonly change?: Parameters<typeof refuseForeign>[1] },
  options: ItemOptions,
): Promise<Place> {
  const place = await openBoard(context, options);
  const item = await place.board.get(place.projectId, id);
  if (item !== null) return place;
  await refuseForeign(context, change, { id, project: options.project });
  throw notThere(place, id);
}

async function mustExist({ board, projectId }: Place, id: string): Promise<WorkItem> {
  const item = await board.get(projectId, id);
  if (item !== null) return item;
  throw notThere({ board, projectId }, id);
}

function notThere({ projectId }: Place, id: string): Refusal {
  return new Refusal(`no item ${typed(id)} in ${projectId}`, { code: "not-found", hint: "ratchet work list --all" });
}

async function refuseHeld({ app }: Context, item: WorkItem): Promise<void> {
  await refuseHeldByRun(await app.store(), item);
}

/** A name that nobody could read, or give again, is none. */
function nameOf({ as: name }: ClaimOptions): string | null {
  if (name === undefined) return null;
  if (name.trim() !== "" && name === plainLine(name) && name.length <= 200) return name;
  throw new UserError(`--as ${typed(name.slice(0, 200))} is no name`, { hint: "one line of at most 200 characters" });
}

/** Without --as every call is somebody else, so that of many who ask only one gets it. */
export async function claimItem(context: Context, id: string | undefined, options: ClaimOptions): Promise<number> {
  const own = nameOf(options);
  const place = id === undefined ? await openBoard(context, options) : await openItem(context, { id }, options);
  const holder = own ?? `shell-${process.pid}-${randomBytes(3).toString("hex")}`;
  const leaseUntil = Date.now() + leaseMs;
  const item = id === undefined ? null : await mustExist(place, id);
  // Under the name of a run it would be that run's own claim, with an end to it.
  if (item && own !== null && item.claimedBy === own) await refuseHeld(context, item);
  else if (item) await refuseLeft(await context.app.store(), item);
  const claimed = await claim(place, id, { holder, leaseUntil });
  if (claimed === null) {
    context.out.note(id === undefined ? "nothing is ready" : await whyNot(place, id));
    if (options.json) context.out.json({ claimed: false });
    return 1;
  }
  const until = new Date(leaseUntil).toISOString();
  const value = { claimed: true, id: claimed, holder, lease_until: until };
  return told(context, options, { value, line: claimed });
}

async function claim(
  place: Place,
  id: string | undefined,
  { holder, leaseUntil }: { readonly holder: string; readonly leaseUntil: number },
): Promise<string | null> {
  const { board, projectId } = place;
  if (id === undefined) return (await board.claimNext(projectId, { holder, leaseUntil }))?.id ?? null;
  await mustExist(place, id);
  return (await board.claim(projectId, id, { holder, leaseUntil, now: Date.now() })) ? id : null;
}

function isOpenEpic({ type, status }: WorkItem): boolean {
  return type === "epic" && status !== "completed";
}

function ofEpic(id: string): string {
  return `${id} is an epic, which nobody works on itself`;
}

async function whyNot(place: Place, id: string): Promise<string> {
  const item = await mustExist(place, id);
  const { status, claimedBy, deps } = item;
  if (isOpenEpic(item)) return `${ofEpic(id)}: ratchet explain ${id} names its issues`;
  if (status === "claimed") return `${id} is claimed by ${claimedBy ?? "somebody"}`;
  if (status !== "available") return `${id} is ${status}`;
  const items = await Promise.all(deps.map((dep) => place.board.get(place.projectId, dep)));
  return `${id} waits for ${deps.filter((_, index) => items[index]?.status !== "completed").join(", ")}`;
}

export async function renewClaim(context: Context, id: string, options: ClaimOptions): Promise<number> {
  const place = await openItem(context, { id }, options);
  const { claimedBy, leaseUntil: lease } = await mustExist(place, id);
  const holder = options.as ?? claimedBy;
  const leaseUntil = Date.now() + leaseMs;
  if (holder === null || !(await place.board.heartbeat(place.projectId, id, { holder, leaseUntil }))) {
    const held =
      claimedBy !== null && lease === null ? `held by the run ${claimedBy}, which needs no heartbeat` : "not held";
    throw new Refusal(`${id} is ${claimedBy !== null && options.as ? `held by ${claimedBy}` : held}`, {
      code: "not-held",
      // What somebody has cannot be claimed.
      hint: claimedBy === null ? `ratchet work claim ${id}` : `ratchet explain ${id}`,
    });
  }
  const until = new Date(leaseUntil).toISOString();
  return told(context, options, { value: { id, holder, lease_until: until }, line: `${id} is kept until ${until}` });
}

export async function releaseItem(context: Context, id: string, options: ClaimOptions): Promise<number> {
  const place = await openItem(context, { id }, options);
  const item = await mustExist(place, id);
  const { status, claimedBy } = item;
  await refuseHeld(context, item);
  // Whoever has taken it since then keeps it.
  if (!(await place.board.release(place.projectId, id, options.as ?? claimedBy))) {
    const reason = status === "claimed" ? `held by ${claimedBy ?? "somebody else"}` : `${status}, not claimed`;
    throw new Refusal(`${id} is ${reason}`, { code: "not-held" });
  }
  return told(context, options, { value: { id, status: "available" }, line: `${id} is free again` });
}

/** `force`: also one that waits in a pull request, which is followed no longer then. */
export async function completeItem(
  context: Context,
  id: string,
  options: ItemOptions & { readonly force?: boolean },
): Promise<number> {
  const place = await openItem(context, { id, change: "complete" }, options);
  const item = await mustExist(place, id);
  const { status } = item;
  if (!options.force) await refuseInPullRequest(context, item, endPullRequest);
  await refuseOpenChildren(place, item);
  if (!(await place.board.complete(place.projectId, id, options.note ?? null))) {
    throw new Refusal(`${id} is ${status}`, { code: "wrong-status" });
  }
  await leavePullRequest(context, place, item);
  const held = await holdingRun(await context.app.store(), item);
  if (held) context.out.note(`run ${held.runId} still works on ${id} and will not land it; ${held.stop} ends that now`);
  return told(context, options, { value: { id, status: "completed" }, line: `${id} is completed` });
}

/** Nobody works on what is left of it, and nobody has to decide about it. What the forge has of it stays as it is. */
async function leavePullRequest({ out }: Context, { board, projectId }: Place, item: WorkItem): Promise<void> {
  const { id, payload, status } = item;
  if (payload?.source !== "implement" || payload.pr_number === undefined || status === "completed") return;
  const reason = `${id} was completed by hand`;
  for (const one of await board.ofPullRequest(projectId, payload.pr_number)) {
    if (one.id === id || one.status === "completed") continue;
    await board.settle(projectId, one.id, null, { status: "completed", reason, commit: null });
  }
  out.note(`pull request #${payload.pr_number} is followed no longer`);
}

/** An epic is done when its issues are. */
async function refuseOpenChildren({ board, projectId }: Place, item: WorkItem): Promise<void> {
  const { id } = item;
  if (!isOpenEpic(item)) return;
  const open = (await board.childrenOf(projectId, id)).filter((child) => child.status !== "completed");
  if (open.length === 0) return;
  const [first] = open;
  const more = open.length > listed ? ` and ${open.length - listed} more` : "";
  const ids = open.slice(0, listed).map((child) => child.id);
  throw new Refusal(`${id} is an epic with open issues: ${ids.join(", ")}${more}`, {
    code: "open-children",
    hint: `complete them first, such as ratchet work complete ${first?.id ?? ""}; the epic follows with the next run`,
  });
}
const listed = 20;

export async function blockItem(context: Context, id: string, options: ItemOptions): Promise<number> {
  const place = await openItem(context, { id }, options);
  const { board, projectId } = place;
  await refuseHeld(context, await mustExist(place, id));
  await board.block(projectId, id, options.reason ?? null);
  return told(context, options, { value: { id, status: "blocked" }, line: `${id} is blocked` });
}

export async function unblockItem(context: Context, id: string, options: ItemOptions): Promise<number> {
  const { board, projectId } = await openItem(context, { id, change: "unblock" }, options);
  await refuseLeft(await context.app.store(), { projectId, id });
  await board.unblock(projectId, id);
  return told(context, options, { value: { id, status: "available" }, line: `${id} is available` });
}

export async function failItem(context: Context, id: string, options: ItemOptions): Promise<number> {
  const place = await openItem(context, { id }, options);
  const { board, projectId } = place;
  const item = await mustExist(place, id);
  await refuseHeld(context, item);
  if (isOpenEpic(item)) {
    throw new Refusal(ofEpic(id), { code: "wrong-status", hint: `ratchet explain ${id} names its issues` });
  }
  const status = await board.failItem(projectId, id, options.reason ?? "no reason given");
  return told(context, options, { value: { id, status }, line: `${id} is ${status}` });
}

export async function retryItem(context: Context, id: string, options: ItemOptions): Promise<number> {
  const place = await openItem(context, { id, change: "retry" }, options);
  const { board, projectId } = place;
  const item = await mustExist(place, id);
  const pr = await openPullRequestOf(context, item);
  // Begun anew, it would be in the way of its own pull request; where a person has decided, it goes on there.
  if (pr !== null && !item.payload?.human_review_required) {
    const hint = `ratchet pr rework ${pr} asks for changes; closing the pull request gives the work up`;
    throw inPullRequest(item, pr, () => hint);
  }
  await refuseLeft(await context.app.store(), item);
  await refuseStopping(context, item);
  await board.retry(projectId, id, { inPullRequest: pr !== null });
  // One that waited for a person's word may be claimed, and stays so.
  const status = (await board.get(projectId, id))?.status ?? "available";
  return told(context, options, { value: { id, status }, line: `${id} is ${status}` });
}

/** Between the word and its end: a retry now would be forgotten with it. */
async function refuseStopping({ app }: Context, { id, projectId, status }: WorkItem): Promise<void> {
  const life = status === "claimed" ? await findLife(app, projectId, id) : null;
  if (!life?.driverAlive || !(life.stopping || life.landing)) return;
  throw new Refusal(`${id} is still ${life.landing ? "landing" : "stopping"} in run ${life.runId}`, {
    code: "wrong-status",
    hint: `ratchet retry ${shellWord(id)} when it has: ratchet explain ${shellWord(id)} says so`,
  });
}

export async function changeDeps(
  context: Context,
  id: string,
  options: ItemOptions & { readonly on: readonly string[]; readonly remove?: boolean },
): Promise<number> {
  if (options.on.length === 0) throw new UserError("--on names no issue", { hint: `ratchet work dep ${id} --on <id>` });
  const place = await openItem(context, { id }, options);
  if (options.remove) await place.board.removeDeps(place.projectId, id, options.on);
  else await place.board.addDeps(place.projectId, id, options.on);
  const item = await mustExist(place, id);
  const { deps } = item;
  const held = options.remove ? null : await holdingRun(await context.app.store(), item);
  if (held) context.out.note(`run ${held.runId} works on ${id} already and goes on; ${held.stop} ends that`);
  return told(context, options, {
    value: { id, deps },
    line: deps.length === 0 ? `${id} waits for nothing` : `${id} waits for ${deps.join(", ")}`,
  });
}

function told(
  { out }: Context,
  { json }: ItemOptions,
  said: { readonly value: unknown; readonly line: string },
): number {
  if (json) out.json(said.value);
  else out.line(said.line);
  return 0;
}
