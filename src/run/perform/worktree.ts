import type { WorktreeEffect } from "../../core/issue/effects.js";
import type { IssueEvent, ParkedAs } from "../../core/issue/events.js";
import { continuesBranch } from "../../core/issue/policy.js";
import { requiredBase } from "../../core/issue/preconditions.js";
import type { TriggerStart } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import { GitError } from "../../git/git.js";
import { fetchBranch } from "../../git/landing/push.js";
import { tipOf } from "../../git/mirror/mirror.js";
import { hasCommit, isAncestor } from "../../git/mirror/mirror-refs.js";
import { parkAll, settleAll } from "../../git/parking/afresh.js";
import { dropLanded, finishParking } from "../../git/parking/park.js";
import { continueBranch, readGiven } from "../../git/users-branch/given-branch.js";
import { adoptUsersBranch } from "../../git/users-branch/users-branch.js";
import { openForItem } from "../../git/worktree/item-worktree.js";
import { readReviewed } from "../../git/worktree/reviewed.js";
import {
  bringBack,
  commitAll,
  type OpenedWorktree,
  openWorktree,
  removeUnused,
  removeWorktree,
} from "../../git/worktree/worktree.js";
import { ExternalError, messageOf } from "../../lib/errors.js";
import { withLock } from "../../lib/lock.js";
import { type LifeContext, runNames, takeSnapshot, worktreePath } from "../context.js";
import { whyElsewhere } from "../elsewhere.js";
import { baseOfEpic } from "../epic-changes.js";
import { tellRemade } from "../remade.js";
import { removeTemporaryFolder, temporaryFolder } from "../temporary.js";
import { giveBackSlotNumber } from "./slot-number.js";

export async function performWorktree(
  life: LifeContext,
  effect: WorktreeEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  try {
    return { event: await perform(life, effect, signal) };
  } catch (error) {
    const unreachable = error instanceof ExternalError && error.what === "remote" ? { unreachable: true as const } : {};
    return { event: { type: "worktree-failed", key: effect.key, reason: messageOf(error), ...unreachable } };
  }
}

async function perform(life: LifeContext, effect: WorktreeEffect, signal: AbortSignal): Promise<IssueEvent> {
  const { mirror, target } = life.run;
  const path = worktreePath(life);
  switch (effect.op) {
    case "open": {
      // Whoever puts aside what an earlier life has left does it alone.
      if (life.state().life === 1) return await open(life, effect, signal);
      const lock = life.run.home.worktreeLock(life.run.projectId, life.names.worktree);
      return await withLock(lock, () => open(life, effect, signal), { signal });
    }
    case "look":
      return {
        type: "worktree-seen",
        key: effect.key,
        snapshot: await takeSnapshot(life, requiredBase(life.state())),
      };
    case "commit-all": {
      // Whatever its agent has left of it: what is gone comes from the branch.
      const { lost } = await openAt(life, life.state().baseSha);
      const { parked } = await commitAll(path, effect.message, life.run.identity);
      const snapshot = await takeSnapshot(life, requiredBase(life.state()));
      const aside = parked === undefined ? {} : { parked: { ref: parked, as: placeOf(life).issue } };
      const told = { ...(lost === undefined ? {} : { lost }), ...(await tellRemade(life)) };
      return { type: "worktree-committed", key: effect.key, snapshot, ...aside, ...told };
    }
    case "remove": {
      const place = placeOf(life);
      const { parked } = await removeWorktree(mirror, { ...place, target, landed: await givenOf(life) });
      if (life.run.options.only === "land") await dropLanded(mirror, { issue: place.issue, target });
      giveBackSlotNumber(life.run.home.root, path);
      await removeTemporaryFolder(temporaryFolder(life));
      const left = parked === null || isElsewhere(life) ? {} : { parked: { ref: parked.ref, as: place.issue } };
      return { type: "worktree-removed", key: effect.key, ...left };
    }
  }
}

async function open(
  life: LifeContext,
  effect: Extract<WorktreeEffect, { readonly op: "open" }>,
  signal: AbortSignal,
): Promise<IssueEvent> {
  const { mirror, target } = life.run;
  const path = worktreePath(life);
  const { branch } = life.names;
  const tip = await tipOf(mirror, target);
  if (tip.type === "missing") return { type: "worktree-failed", key: effect.key, reason: tip.reason };
  await finishAside(life);
  const left = life.trigger ? await leaveBehind(life) : {};
  const newest = once(() => newestBase(life, tip.sha, signal));
  const base = (await knownBase(life, effect.baseSha ?? (await givenBase(life)))) ?? (await newest());
  if (life.run.options.only === "land") await adoptUsersBranch(mirror, { path, branch });
  if (life.item) return await openForItemOf(life, { key: effect.key, base, targetTip: tip.sha, signal });
  const opened = await openFor(life, { base, tip: tip.sha, newest });
  if (typeof opened === "string") return { type: "worktree-failed", key: effect.key, reason: opened };
  const reviewBase = life.trigger ? await baselineOf(life, life.trigger, base) : await mergedBase(life, opened.head);
  const reviewed = reviewBase === null ? {} : { reviewBase };
  return { type: "worktree-ready", key: effect.key, ...opened, targetTip: tip.sha, ...reviewed, ...left };
}

/**
 * A trigger of the run works on what has landed: whatever another one has left, whose removal failed or was cut short, is put
 * aside before.
 */
async function leaveBehind(life: LifeContext): Promise<{ readonly parked?: ParkedAs }> {
  const { path, issue } = placeOf(life);
  const ref = (await parkAll(life.run.mirror, { path, issue, base: null, landed: await givenOf(life) })).at(-1);
  return ref === undefined ? {} : { parked: { ref, as: issue } };
}

/** Of the run's own branch, what the user was given. An issue's is put aside as well: its branch may be deleted before it lands. */
async function givenOf(life: LifeContext): Promise<string | null> {
  return life.trigger ? await readGiven(life.run.mirror, placeOf(life).branch) : null;
}

/** Whoever put aside what it had before, or gave it up, may have been killed in the middle of it. */
async function finishAside(life: LifeContext): Promise<void> {
  const { run, issueId, trigger, item } = life;
  if (trigger || item) return;
  if (life.state().life > 1) await finishParking(run.mirror, { path: worktreePath(life), issue: issueId });
  if (!(await run.board.isToSettle(run.projectId, issueId))) return;
  await settleAll(run.mirror, issueId);
  await run.board.noteSettled(run.projectId, issueId);
}

/** Of what is put aside, the work is on a branch that people have, too, or is dropped once it has landed. */
function isElsewhere({ run, trigger }: LifeContext): boolean {
  return run.options.only === "land" || (!trigger && run.settings.finalize.mode !== "merge");
}

/** Takes up what is there; whatever somebody broke in its git folder is made anew. */
export async function openAt(life: LifeContext, base: string): Promise<OpenedWorktree> {
  const { mirror, settings, repoPath } = life.run;
  const place = { path: worktreePath(life), branch: life.names.branch };
  const leavesParked = life.trigger !== undefined;
  return await openWorktree(mirror, { ...place, base, copy: settings.worktree.copy, repoPath, leavesParked });
}

type Ready = Omit<OpenedWorktree, "from"> & { readonly from: OpenedWorktree["from"] | "anew" | "elsewhere" };

interface Starts {
  readonly base: string;
  readonly tip: string;
  readonly newest: () => Promise<string>;
}

/**
 * Where nothing was done yet, nothing is there that a base must be kept for: it starts anew from what there is by now. What was
 * done on another branch may not go on here, and this is why.
 */
async function openFor(life: LifeContext, { base, tip, newest }: Starts): Promise<Ready | string> {
  const opened = await openAt(life, base);
  const { from, baseSha, head } = opened;
  // A trigger's is always made now, from what it is to begin at.
  const isNew = head === tip || life.trigger !== undefined;
  const reason = isNew ? null : await whyElsewhere(life, { base: baseSha, head });
  const isUntouched = !isNew && head === baseSha && !life.run.options.only;
  if (reason === null && !(isUntouched && (await lacks(life.run, head, await newest())))) return opened;
  const removed = await removeUnused(life.run.mirror, placeOf(life));
  if (removed === null) return reason ?? opened;
  const anew = await openAt(life, await newest());
  const left = bringBack(removed.aside, anew.path);
  const aside = [...(opened.aside ?? []), ...(anew.aside ?? []), ...(left === null ? [] : [left])];
  const all = { ...opened, ...anew, ...(aside.length === 0 ? {} : { aside }) };
  if (from === "new" || anew.from !== "new") return all;
  return { ...all, from: reason === null ? "anew" : "elsewhere" };
}

async function lacks({ mirror }: LifeContext["run"], head: string, newest: string): Promise<boolean> {
  return head !== newest && !(await isAncestor(mirror.path, newest, head));
}

/** The worktree of the run is the run's, whatever it is used for: an epic that is verified there has none. */
function placeOf(life: LifeContext): { readonly path: string; readonly branch: string; readonly issue: string } {
  const { item, branch } = life.trigger ? runNames(life.run.runId) : life.names;
  return { path: worktreePath(life), branch, issue: item };
}

/** The worktree that its issue left, and what was done to have it; told on the board, for whoever follows the item. */
async function openForItemOf(
  life: LifeContext,
  how: { readonly key: string; readonly base: string; readonly targetTip: string; readonly signal: AbortSignal },
): Promise<IssueEvent> {
  const { mirror, settings, repoPath, board, projectId } = life.run;
  const path = worktreePath(life);
  const place = { path, branch: life.names.branch, copy: settings.worktree.copy, repoPath };
  const asItIs = life.state().deliver != null;
  const { how: came, parked, pushed, rewritten, ...opened } = await openForItem(mirror, { ...place, ...how, asItIs });
  const tell = (level: "info" | "warning", text: string) =>
    board.appendEvent(projectId, life.issueId, { type: "log", level, text });
  if (parked !== null) await tell("warning", `Rework: uncommitted changes were put aside in ${parked}`);
  if (rewritten) {
    const text = `Rework: ${opened.branch} was rewritten at origin: it goes on from there, what it was before is parked`;
    await tell("warning", text);
  }
  if (came === "reused") await tell("info", `Rework: reusing existing worktree at ${path}`);
  if (came === "switched") await tell("info", `Rework: switched the worktree at ${path} to ${opened.branch}`);
  if (came === "made") await tell("warning", `Rework: the worktree was gone, made anew at ${path}`);
  const there = pushed === null ? {} : { pushed };
  return { type: "worktree-ready", key: how.key, ...opened, targetTip: how.targetTip, ...there };
}

/** What an earlier life was to merge, where it has: what others did up to there is not the issue's. */
async function mergedBase({ run, state }: LifeContext, head: string): Promise<string | null> {
  const { reviewBase, unmerged } = state();
  const { path } = run.mirror;
  for (const base of [unmerged, reviewBase])
    if (base && (await hasCommit(path, base)) && (await isAncestor(path, base, head))) return base;
  return null;
}

/** Where the review of a trigger of the run starts. */
async function baselineOf({ run }: LifeContext, trigger: TriggerStart, tip: string): Promise<string> {
  const { name, startCommit, epic } = trigger;
  if (name === "epic_verification") return (epic && (await baseOfEpic(run, epic, tip))) || startCommit;
  const { baseline } = run.settings.validation_triggers[name]?.code_review ?? {};
  if (baseline !== "since_last_review") return startCommit;
  return (await readReviewed(run.mirror, { trigger: name, target: run.target, tip })) ?? startCommit;
}

/** What pull requests have merged is at the remote first: work begins from there, where ours is only behind. */
async function newestBase(life: LifeContext, tip: string, signal: AbortSignal): Promise<string> {
  const { run, item, trigger, names } = life;
  const { mirror, target, identity } = run;
  if (continuesBranch({ ...run, trigger: trigger?.name }))
    return await continueBranch(mirror, { branch: names.branch, target, tip, identity });
  if (run.settings.finalize.mode !== "pr" || item || trigger) return tip;
  // A remote that cannot be reached is the push's to tell of: until then there is work to do.
  const there = await fetchBranch(run.mirror, run.target, signal).catch((error: unknown) => {
    if (error instanceof GitError && !signal.aborted) return null;
    throw error;
  });
  return there !== null && (await isAncestor(run.mirror.path, tip, there)) ? there : tip;
}

/** Of work on a branch that was given to the user, which may be all that is left of it: where it began, as its record says. */
async function givenBase({ run, issueId }: LifeContext): Promise<string | null> {
  return run.options.only === "land" ? ((await run.history.landed(issueId))?.baseSha ?? null) : null;
}

/** An earlier life's base may be from another machine's repository. */
async function knownBase(life: LifeContext, sha: string | null): Promise<string | null> {
  return sha !== null && (await hasCommit(life.run.mirror.path, sha)) ? sha : null;
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}
