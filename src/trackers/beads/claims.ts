import { join } from "node:path";
import { ExternalError } from "../../lib/errors.js";
import { safeName } from "../../lib/home.js";
import { withLock } from "../../lib/lock.js";
import { isClosed, labels, showBead } from "./issues.js";
import { type Beads, callFailed, pauseAfter } from "./program.js";
import type { Bead } from "./read.js";

/**
 * A claim is the status in_progress and an assignee that names the run. The program's own claim decides between two
 * that ask at once; what the tracker then shows is believed, not the exit code, because versions differ in both.
 */
export interface Claims {
  /** `any`: also one that waits for a person. */
  claim(id: string, holder: string, how: { readonly any: boolean }): Promise<boolean>;
  /** The same for one that is completed, not worked on: only whoever asks knows that it may be. */
  claimEpic(id: string, holder: string): Promise<boolean>;
  /** In progress, but bound to nobody: without an assignee, or held by a run that is over. */
  isIdle(bead: Bead): Promise<boolean>;
  /** The issue as it is, if `holder` holds it; throws otherwise, unless `isTold` says that its end is known already. */
  held(id: string, holder: string, isTold: (bead: Bead) => boolean): Promise<Bead | null>;
}

/** What it takes to take over from a run that is over: to know that, and to be alone while doing so. */
export interface TakeOver {
  readonly isOver: (runId: string) => Promise<boolean>;
  /** Where this machine's runs lock each other out. */
  readonly lockFolder: string;
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

export function openClaims(beads: Beads, takeOver: TakeOver | null): Claims {
  const isIdle = async ({ status, assignee }: Bead): Promise<boolean> => {
    if (takeOver === null || status !== "in_progress") return false;
    if (assignee === null) return true;
    return assignee.startsWith(prefix) && (await takeOver.isOver(assignee.slice(prefix.length)));
  };
  const claimIdle = async (id: string, holder: string, { lockFolder }: TakeOver): Promise<boolean> =>
    withLock(join(lockFolder, `${safeName(id)}.lock`), async () => {
      const bead = await showBead(beads, id);
      if (bead === null || !(await isIdle(bead))) return bead !== null && isHeld(bead, holder);
      await beads.call(["update", id, "--status=open", "--assignee="], { actor: assigneeOf(holder) });
      return take(beads, bead, { holder, any: false });
    });
  const claim = async (bead: Bead | null, by: Claimant): Promise<boolean> => {
    if (bead === null) return false;
    if (isHeld(bead, by.holder)) return true;
    if (takeOver !== null && (await isIdle(bead))) return claimIdle(bead.id, by.holder, takeOver);
    return isClaimable(bead, by) && take(beads, bead, by);
  };
  return {
    isIdle,
    claim: async (id, holder, { any }) => {
      const bead = await showBead(beads, id);
      return bead?.type !== "epic" && (await claim(bead, { holder, any }));
    },
    claimEpic: async (id, holder) => await claim(await showBead(beads, id), { holder, any: false }),
    held: async (id, holder, isTold) => {
      const bead = await showBead(beads, id);
      if (bead !== null && isHeld(bead, holder)) return bead;
      if (bead !== null && isTold(bead)) return null;
      throw lostClaim(id, holder, bead);
    },
  };
}

interface Claimant {
  readonly holder: string;
  readonly any: boolean;
}

function isClaimable({ status, assignee, labels: given }: Bead, { holder, any }: Claimant): boolean {
  const isFree = assignee === null || assignee === assigneeOf(holder);
  return status === "open" && isFree && (any || !given.includes(labels.escalated));
}

async function take(beads: Beads, bead: Bead, by: Claimant): Promise<boolean> {
  const { holder } = by;
  const args = ["update", bead.id, "--claim"];
  const actor = assigneeOf(holder);
  for (let failures = 1; ; failures++) {
    const answer = await beads.call(args, { actor, isAnswer: () => true });
    if (answer.code !== 0 && /already (claimed|assigned)|not claimable|claimed by/i.test(answer.words)) return false;
    const now = await showBead(beads, bead.id);
    if (now !== null && isHeld(now, holder)) break;
    if (now === null || !isClaimable(now, by)) return false;
    if (failures >= 3 && answer.code !== 0) throw callFailed(beads.nameOf(args), answer);
    if (failures >= 3) throw new ExternalError("tracker", `${beads.nameOf(args)} --claim succeeds and claims nothing`);
    await pauseAfter(failures);
  }
  await forgetEarlierEnd(beads, bead, actor);
  return true;
}

async function forgetEarlierEnd(beads: Beads, bead: Bead, actor: string): Promise<void> {
  const old = [labels.failed, labels.stopped, labels.escalated].filter((label) => bead.labels.includes(label));
  if (old.length === 0) return;
  await beads.call(["update", bead.id, ...old.map((label) => `--remove-label=${label}`)], { actor });
}

function lostClaim(id: string, holder: string, bead: Bead | null): ExternalError {
  const by = bead?.assignee == null ? "" : `, held by ${bead.assignee}`;
  const now = bead === null ? "is gone" : `is ${isClosed(bead.status) ? "closed" : bead.status}${by}`;
  return new ExternalError("tracker", `${id} is no longer held by ${holder}: it ${now}`, {
    hint: `bd show ${id}`,
  });
}
