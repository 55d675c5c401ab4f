import { join } from "node:path";
import { ExternalError } from "../../lib/errors.js";
import { safeName } from "../../lib/home.js";
import { withLock } from "../../lib/lock.js";
import { hasChanged } from "./change.js";
import { isClosed, labels, showBead, showClaimed, showKnown } from "./issues.js";
import { type Beads, callFailed, pauseAfter } from "./program.js";
import type { Bead } from "./read.js";
import type { Strangers } from "./strangers.js";

/**
 * A claim is the status in_progress and an assignee that names the run. The program's own claim decides between two
 * that ask at once, by its exit code. What it shows afterwards contradicts a success only where it names another run, or
 * where nothing has changed. A program that enters a claim under a name of its own is told the run's. What fails after
 * a success is an error that says so: the claim is there, and somebody has to give it back.
 */
export interface Claims {
  /** `any`: also one that waits for a person. */
  claim(id: string, holder: string, how: { readonly any: boolean }): Promise<boolean>;
  /** The same for one that is completed, not worked on: only whoever asks knows that it may be. */
  claimEpic(id: string, holder: string): Promise<boolean>;
  /** In progress, but bound to nobody: without an assignee, or held by a run that is over. */
  isIdle(bead: Bead): Promise<boolean>;
  /** What may be the claim of `holder`, which has succeeded and was never seen: in progress, under any name but another run's. */
  unseen(id: string, holder: string): Promise<Bead | null>;
  /**
   * The issue as it is, if `holder` holds it; throws otherwise, unless `isTold` says that its end is known already; null:
   * it is gone. `orFree`: nobody holds it; whoever did the work says that it is done. `orNamed`: somebody else has blocked,
   * closed or opened it, and left the name of `holder` on it.
   */
  held(id: string, holder: string, ending: Ending): Promise<Bead | null>;
}

interface Ending {
  readonly isTold: (bead: Bead | null) => boolean;
  readonly orFree?: boolean;
  readonly orNamed?: boolean;
}

/** What it takes to take over from a run that is over: to know that, and to be alone while doing so. */
export interface TakeOver {
  readonly isOver: (runId: string) => Promise<boolean>;
  /** Where this machine's runs lock each other out. */
  readonly lockFolder: string;
  /** Where they note claims that do not show whose they are. */
  readonly noteFolder: string;
}

const prefix = "ratchet/";

export function assigneeOf(holder: string): string {
  return `${prefix}${holder}`;
}

/** null: it is no run. */
export function holderOf(assignee: string): string | null {
  return assignee.startsWith(prefix) ? assignee.slice(prefix.length) : null;
}

export function isHeld({ status, assignee }: Bead, holder: string): boolean {
  return status === "in_progress" && assignee === assigneeOf(holder);
}

export function openClaims(beads: Beads, takeOver: TakeOver | null, strangers: Strangers): Claims {
  const isIdle = async ({ status, assignee }: Bead): Promise<boolean> => {
    if (takeOver === null || status !== "in_progress") return false;
    if (assignee === null) return true;
    return assignee.startsWith(prefix) && (await takeOver.isOver(assignee.slice(prefix.length)));
  };
  const isStranger = async (bead: Bead, holder: string): Promise<boolean> =>
    bead.status === "in_progress" && !isOthers(bead, holder) && (await strangers.isNoted(bead, holder));
  const alone: Means["alone"] = (id, work) =>
    takeOver === null
      ? work()
      : beads.wait(`another run that claims ${id}`, (signal) =>
          withLock(join(takeOver.lockFolder, `${safeName(id)}.lock`), work, signal ? { signal } : {}),
        );
  const means: Means = { beads, strangers, alone };
  const claimIdle = async (id: string, holder: string): Promise<boolean> =>
    alone(id, async () => {
      const bead = await showBead(beads, id);
      if (bead === null || !(await isIdle(bead))) return bead !== null && isHeld(bead, holder);
      await beads.call(["update", id, "--status=open", "--assignee="], { actor: assigneeOf(holder) });
      const locked: Means = { ...means, alone: (_id, work) => work() };
      return take(locked, { ...bead, status: "open", assignee: null }, { holder, any: false });
    });
  const claim = async (bead: Bead | null, by: Claimant): Promise<boolean> => {
    if (bead === null) return false;
    if (isHeld(bead, by.holder)) return true;
    // An earlier process of the run was killed after it had it.
    if (await isStranger(bead, by.holder)) return alone(bead.id, () => giveName(means, bead.id, by.holder));
    if (await isIdle(bead)) return claimIdle(bead.id, by.holder);
    return isClaimable(bead, by) && take(means, bead, by);
  };
  return {
    isIdle,
    claim: async (id, holder, { any }) => {
      const bead = await showBead(beads, id);
      return bead?.type !== "epic" && (await claim(bead, { holder, any }));
    },
    claimEpic: async (id, holder) => await claim(await showBead(beads, id), { holder, any: false }),
    unseen: async (id, holder) => {
      const bead = await showClaimed(beads, id);
      return bead?.status === "in_progress" && !isOthers(bead, holder) ? bead : null;
    },
    held: async (id, holder, { isTold, orFree = false, orNamed = false }) => {
      const bead = await showClaimed(beads, id);
      if (bead !== null && (isHeld(bead, holder) || (await isStranger(bead, holder)))) return bead;
      if (orNamed && bead?.assignee === assigneeOf(holder) && bead.status !== "tombstone") return bead;
      if (isTold(bead)) return null;
      if (bead !== null && orFree && isFree(bead)) return bead;
      throw lostClaim(beads, { id, holder, bead });
    },
  };
}

interface Claimant {
  readonly holder: string;
  readonly any: boolean;
}

interface Means {
  readonly beads: Beads;
  readonly strangers: Strangers;
  /** While no other run of this machine does the same. */
  readonly alone: (id: string, work: () => Promise<boolean>) => Promise<boolean>;
}

function isClaimable({ status, assignee, labels: given }: Bead, { holder, any }: Claimant): boolean {
  const isFree = assignee === null || assignee === assigneeOf(holder);
  return status === "open" && isFree && (any || !given.includes(labels.escalated));
}

async function take(means: Means, bead: Bead, by: Claimant): Promise<boolean> {
  const claim = { id: bead.id, holder: by.holder };
  await means.strangers.note(claim);
  const won = await tryToTake(means, bead, by);
  // Not where a call got no answer: whether the claim was made nobody knows then.
  await means.strangers.forgetUnnamed(claim);
  return won;
}

async function tryToTake(means: Means, bead: Bead, by: Claimant): Promise<boolean> {
  const { beads } = means;
  const args = ["update", bead.id, "--claim"];
  const actor = assigneeOf(by.holder);
  for (let failures = 1; ; failures++) {
    const answer = await beads.call(args, { actor, isAnswer: () => true });
    if (answer.code !== 0 && /already (claimed|assigned)|not claimable|claimed by/i.test(answer.said)) return false;
    const won = await (answer.code === 0 ? onceClaimed(() => seeClaim(means, bead, by)) : seeOther(means, bead, by));
    if (won !== null) return won;
    // It was seen to be free.
    if (failures >= 3) await means.strangers.forget({ id: bead.id, holder: by.holder });
    if (failures >= 3 && answer.code !== 0) throw callFailed(beads.nameOf(args), answer);
    if (failures >= 3) {
      throw new ExternalError("tracker", `${beads.nameOf(args)} --claim succeeds and claims nothing`, {
        retryable: true,
      });
    }
    await beads.wait(beads.nameOf(args), (signal) => pauseAfter(failures, signal));
  }
}

/** After a success. null: nothing has changed. */
async function seeClaim(means: Means, bead: Bead, by: Claimant): Promise<boolean | null> {
  const { beads, alone } = means;
  const now = await showKnown(beads, bead.id, "claimed");
  if (!hasChanged(bead, now)) return await judge(beads, { bead, now, by });
  if (isClosed(now.status)) return false;
  if (!isHeld(now, by.holder) && !(await alone(bead.id, () => giveName(means, bead.id, by.holder)))) return false;
  await forgetEarlierEnd(beads, bead, assigneeOf(by.holder));
  return true;
}

/** After a failure that does not say whose it is. null: it may be tried again. */
async function seeOther({ beads }: Means, bead: Bead, by: Claimant): Promise<boolean | null> {
  return await judge(beads, { bead, now: await showBead(beads, bead.id), by });
}

interface Seen {
  readonly bead: Bead;
  readonly now: Bead | null;
  readonly by: Claimant;
}
async function judge(beads: Beads, { bead, now, by }: Seen): Promise<boolean | null> {
  if (now === null || isClosed(now.status)) return false;
  if (!isHeld(now, by.holder)) return isClaimable(now, by) ? null : false;
  await forgetEarlierEnd(beads, bead, assigneeOf(by.holder));
  return true;
}

/** Whoever is told of the failure knows that the claim was made. */
async function onceClaimed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    const { what, message, retryable, hint } = error;
    throw new ExternalError(what, message, {
      retryable,
      isDone: true,
      cause: error,
      ...(hint === null ? {} : { hint }),
    });
  }
}

/**
 * The program's claim succeeded, and the issue does not show the run's name. false: it shows another run's. Otherwise it
 * gets ours, so that this run finds its claim again after a crash and others see whose it is.
 */
async function giveName({ beads, strangers }: Means, id: string, holder: string): Promise<boolean> {
  const actor = assigneeOf(holder);
  if (isOthers(await showKnown(beads, id, "claimed"), holder)) return false;
  await beads.call(["update", id, "--status=in_progress", `--assignee=${actor}`], { actor });
  const now = await showKnown(beads, id, "claimed");
  if (isOthers(now, holder)) return false;
  if (isHeld(now, holder)) await strangers.forget({ id, holder });
  else await strangers.note({ id, holder }, now.assignee);
  return true;
}

/** Of a run that is not this one. */
function isOthers({ assignee }: Bead, holder: string): boolean {
  return assignee !== null && assignee !== assigneeOf(holder) && holderOf(assignee) !== null;
}

async function forgetEarlierEnd(beads: Beads, bead: Bead, actor: string): Promise<void> {
  const old = [labels.failed, labels.stopped, labels.escalated].filter((label) => bead.labels.includes(label));
  if (old.length === 0) return;
  await beads.call(["update", bead.id, ...old.map((label) => `--remove-label=${label}`)], { actor });
}

function isFree({ status, assignee }: Bead): boolean {
  return assignee === null && (status === "open" || status === "in_progress");
}

function lostClaim(
  beads: Beads,
  { id, holder, bead }: { readonly id: string; readonly holder: string; readonly bead: Bead | null },
): ExternalError {
  const by = bead?.assignee == null ? "" : `, held by ${bead.assignee}`;
  const now = bead === null ? "is gone" : `is ${isClosed(bead.status) ? "closed" : bead.status}${by}`;
  return new ExternalError("tracker", `${id} is no longer held by ${holder}: it ${now}`, {
    hint: beads.nameOf(["show", id]),
  });
}
