import { unmergedReason } from "../../core/not-ready.js";
import type { EpicName, Epics, Issue } from "../../core/ports/tracker.js";
import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import type { RunContext } from "../context.js";
import { unmergedDeps } from "../unmerged.js";

type EpicEffect = Extract<RunEffect, { readonly kind: "epic" }>;
type EpicsEffect = Extract<RunEffect, { readonly kind: "epics" }>;
type Checked = Omit<Extract<RunEvent, { readonly type: "epic-checked" }>, "type" | "key">;

const nothing: Checked = { epic: null };
const note = "all of its children are completed";

/** What has come to its end above an issue, or by itself; a holder that completed an epic is told so again. */
export async function performEpic(run: RunContext, effect: EpicEffect): Promise<Settled<RunEvent>> {
  const { epics } = run.tracker;
  const checked = epics ? await check(run, epics, effect) : nothing;
  return { event: { type: "epic-checked", key: effect.key, ...checked } };
}

export async function performEpics(run: RunContext, effect: EpicsEffect): Promise<Settled<RunEvent>> {
  return { event: { type: "epics-seen", key: effect.key, due: await dueEpics(run) } };
}

/** Of those that the tracker finds, the ones whose work is in the target. */
export async function dueEpics(run: RunContext): Promise<EpicName[]> {
  const found = (await run.tracker.epics?.due({ scope: run.options.scope, holder: run.runId })) ?? [];
  const due: EpicName[] = [];
  for (const epic of found) if ((await whatIsUnmerged(run, epic.id)) === null) due.push(epic);
  return due;
}

/** What an epic that is done on the board waits for; null: its work, and what it depends on, is in the target. */
export async function whatIsUnmerged(run: RunContext, epic: string): Promise<string | null> {
  const [first] = await unmergedDeps(run, run.tracker, [epic]);
  return first === undefined ? null : unmergedReason(first);
}

async function check(run: RunContext, epics: Epics, effect: EpicEffect): Promise<Checked> {
  if ("verified" in effect) return await whetherDone(run, effect.verified);
  const child = "child" in effect ? await run.tracker.get(effect.child) : null;
  const id = "epic" in effect ? effect.epic : (child?.parent ?? null);
  const epic = id === null ? null : await run.tracker.get(id);
  if (epic === null || epic.type !== "epic" || epic.status === "blocked") return nothing;
  const name: EpicName = { id: epic.id, isTop: epic.parent === null };
  const { verify = false, failing, failed } = "child" in effect ? effect : {};
  if (epic.status === "completed" && verify) return nothing;
  const outlook = epic.status === "completed" ? "due" : await outlookOf(epics, epic.id);
  if (outlook === "due" && (await waits(run, epic))) return nothing;
  if (outlook === "due") {
    const why = epic.status === "completed" ? null : await whatIsUnmerged(run, epic.id);
    if (why !== null) return { epic: name, how: "unmerged", why };
    if (verify) return { epic: name, how: "due" };
    return (await epics.complete(epic.id, run.runId, note)) ? { epic: name } : nothing;
  }
  const isLast = failing === "at-last" && child !== null && child.status !== "completed";
  if (failing === undefined || !(isLast || outlook === "stuck")) return nothing;
  const children = await epics.children(epic.id);
  if (failed !== undefined && !children.some((one) => failed.includes(one.id))) return nothing;
  const open = await openIn(run, epics, children);
  return open.length === 0 ? { epic: name, how: "failed" } : { epic: name, how: "unfinished", open };
}

/** One that was deleted is open no more either. */
async function whetherDone({ tracker }: RunContext, id: string): Promise<Checked> {
  const epic = await tracker.get(id);
  return epic === null || epic.status === "completed"
    ? { epic: { id, isTop: epic?.parent == null }, how: "done" }
    : nothing;
}

/** What of it is not done and can still go on, with this run or without. */
async function openIn(run: RunContext, epics: Epics, children: readonly Issue[]): Promise<string[]> {
  const open: string[] = [];
  for (const child of children) if (await canGoOn(run, epics, child)) open.push(child.id);
  return open;
}

/** Somebody is at it or at a part of it, or all that it waits for can go on. */
async function canGoOn(run: RunContext, epics: Epics, issue: Issue, depth = 0): Promise<boolean> {
  const { id, type, status, deps } = issue;
  if (status === "claimed") return true;
  if (status === "completed" || depth >= deepest) return false;
  if (type === "epic") {
    for (const child of await epics.children(id)) if (await canGoOn(run, epics, child, depth + 1)) return true;
    return false;
  }
  if (isEndedBadly(status)) return false;
  const waitsFor = await Promise.all(deps.map((dep) => run.tracker.get(dep)));
  const open = waitsFor.flatMap((one) => (one === null || one.status === "completed" ? [] : [one]));
  if (open.length === 0) return status !== "blocked";
  for (const one of open) if (!(await canGoOn(run, epics, one, depth + 1))) return false;
  return true;
}

/** It is completed after what it depends on, too. */
async function waits({ tracker }: RunContext, { deps, status }: Issue): Promise<boolean> {
  if (status === "completed") return false;
  for (const dep of deps) if ((await tracker.get(dep))?.status !== "completed") return true;
  return false;
}

/** Whoever linked two epics as each other's child gets an end all the same. */
const deepest = 20;

/** `due`: no child is open. `stuck`: some are, and each of them has ended badly. */
async function outlookOf(epics: Epics, epic: string, depth = 0): Promise<"due" | "stuck" | "open"> {
  const children = await epics.children(epic);
  const open = children.filter(({ status }) => status !== "completed");
  if (children.length === 0) return "open";
  if (open.length === 0) return "due";
  for (const child of open) if (!(await hasEndedBadly(epics, child, depth))) return "open";
  return "stuck";
}

async function hasEndedBadly(epics: Epics, { id, type, status }: Issue, depth: number): Promise<boolean> {
  if (type === "epic") return depth < deepest && (await outlookOf(epics, id, depth + 1)) === "stuck";
  return isEndedBadly(status);
}

function isEndedBadly(status: Issue["status"]): boolean {
  return status === "failed" || status === "quarantined" || status === "waiting_for_response";
}
