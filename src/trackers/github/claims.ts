import { ExternalError } from "../../lib/errors.js";
import type { Github } from "../../lib/github-client/client.js";
import { addLabels, type Found, findIssue, isEpic, labels, removeLabels, setAssignee, statusOf } from "./issues.js";
import type { Notes } from "./notes.js";

/**
 * Who works on an issue. GitHub has no way to change something only if nobody else did, but it orders comments: of the
 * hidden claims in them the first that is still there holds, and whoever sees another before his own takes his back.
 * The label and the assignee are for people to see; the comment is removed last, so that nobody sees an issue free that
 * is not marked yet.
 */
export interface Claims {
  claim(id: string, holder: string, how: { readonly any: boolean }): Promise<boolean>;
  /** The same for one that is completed, not worked on: only whoever asks knows that it may be. */
  claimEpic(id: string, holder: string): Promise<boolean>;
  /** Claimed by a run that is over. */
  isIdle(found: Found): Promise<boolean>;
  holderOf(id: string): Promise<string | null>;
  /**
   * The issue as it is, if `holder` holds it; throws otherwise, unless `isTold` says that its end is known already; null:
   * it is gone. `orFree`: nobody holds it; whoever did the work says that it is done.
   */
  held(id: string, holder: string, ending: Ending): Promise<Found | null>;
  letGo(found: Found, holder: string): Promise<void>;
  pass(id: string, claim: { readonly from: string; readonly to: string }): Promise<void>;
}

interface Ending {
  readonly isTold: (found: Found | null) => boolean;
  readonly orFree?: boolean;
}

export interface ClaimOptions {
  readonly notes: Notes;
  readonly me: () => Promise<string>;
  /** Whether a run is over, as far as this machine knows. */
  readonly isOver: ((runId: string) => Promise<boolean>) | null;
}

export function openClaims(github: Github, options: ClaimOptions): Claims {
  const { notes, me } = options;
  const isOver = async (holder: string): Promise<boolean> => (await options.isOver?.(holder)) ?? false;
  const holderOf = async (id: string): Promise<string | null> => (await notes.claims(id))[0]?.holder ?? null;
  const claim = async (id: string, holder: string, how: { any: boolean; isEpic: boolean }): Promise<boolean> => {
    const found = await findIssue(github, id);
    if (found === null || isEpic(found) !== how.isEpic || !isOpenTo(found, how.any)) return false;
    const current = found.labels.includes(labels.claimed) ? await holderOf(id) : null;
    // Without a claim it is a person's word, and so is another assignee.
    if (current === null && !isUnplanned(found, await me())) return false;
    if (current !== null && current !== holder && !(await isOver(current))) return false;
    if (isReassigned(found, await me())) return false;
    // The assignee is the last thing that a claim sets.
    if (current === holder && found.assignees.length > 0) return true;
    return (await takeFirst(notes, { id, holder, isOver })) && (await mark(found));
  };
  const mark = async (found: Found): Promise<true> => {
    if (!found.labels.includes(labels.claimed)) await addLabels(github, found.id, [labels.claimed]);
    await removeLabels(github, found, [labels.failed, labels.stopped, labels.escalated]);
    await setAssignee(github, found.id, await me(), true);
    return true;
  };
  return {
    holderOf,
    claim: (id, holder, { any }) => claim(id, holder, { any, isEpic: false }),
    claimEpic: (id, holder) => claim(id, holder, { any: false, isEpic: true }),
    isIdle: async (found) => {
      if (!found.labels.includes(labels.claimed)) return false;
      const holder = await holderOf(found.id);
      return holder !== null && (await isOver(holder));
    },
    held: async (id, holder, { isTold, orFree = false }) => {
      const found = await findIssue(github, id);
      const current = found === null ? null : await holderOf(id);
      if (found !== null && current === holder) return found;
      if (isTold(found)) return null;
      if (found !== null && orFree && current === null && found.isOpen && isUnplanned(found, await me())) return found;
      throw lostClaim(id, holder, { found, current });
    },
    letGo: async (found, holder) => {
      await removeLabels(github, found, [labels.claimed]);
      await setAssignee(github, found.id, await me(), false);
      await withdraw(notes, found.id, holder);
    },
    // The new claim stands behind the old one until that is taken away: whoever looks sees one of them first.
    pass: async (id, { from, to }) => {
      const found = await findIssue(github, id);
      const current = found === null ? null : await holderOf(id);
      if (current !== from && current !== to) throw lostClaim(id, from, { found, current });
      await notes.addClaim(id, to);
      await withdraw(notes, id, from);
    },
  };
}

function isOpenTo(found: Found, any: boolean): boolean {
  return found.isOpen && !found.isPull && (any || statusOf(found) !== "waiting_for_response");
}

/** Whoever may not be assigned there is in nobody's place. */
export function isReassigned({ assignees }: Found, me: string): boolean {
  return assignees.length > 0 && !assignees.includes(me);
}

function isUnplanned({ labels: given, assignees }: Found, me: string): boolean {
  return !given.includes(labels.claimed) && assignees.every((login) => login === me);
}

interface Taking {
  readonly id: string;
  readonly holder: string;
  readonly isOver: (holder: string) => Promise<boolean>;
}

/** Whether ours is the first claim in the end. Those of runs that are over are cleared away. */
async function takeFirst(notes: Notes, { id, holder, isOver }: Taking): Promise<boolean> {
  for (const claim of await notes.claims(id)) {
    if (claim.holder === holder) break;
    if (!(await isOver(claim.holder))) return false;
    await notes.removeClaim(claim);
  }
  await notes.addClaim(id, holder);
  if ((await notes.claims(id))[0]?.holder === holder) return true;
  await withdraw(notes, id, holder);
  return false;
}

async function withdraw(notes: Notes, id: string, holder: string): Promise<void> {
  for (const claim of await notes.claims(id)) if (claim.holder === holder) await notes.removeClaim(claim);
}

function lostClaim(
  id: string,
  holder: string,
  { found, current }: { readonly found: Found | null; readonly current: string | null },
): ExternalError {
  const by = current === null ? "" : `, held by ${current}`;
  const now = found === null ? "is gone" : `is ${found.isOpen ? "open" : "closed"}${by}`;
  return new ExternalError("tracker", `#${id} is no longer held by ${holder}: it ${now}`);
}
