import type { Standing } from "../../core/ports/tracker.js";
import type { Github } from "../../lib/github-client/client.js";
import type { ClaimOptions, Claims } from "./claims.js";
import { type Found, findIssue, labels, statusOf } from "./issues.js";
import type { ReadyOptions } from "./ready.js";

type Options = ReadyOptions & Pick<ClaimOptions, "isOver"> & { readonly claims: Claims };

/** Why `ready` leaves an issue out, in words: the same rules, asked for one issue. */
export async function readStanding(github: Github, id: string, options: Options): Promise<Standing> {
  const found = await findIssue(github, id);
  if (found === null || !found.isOpen) return { claim: null, obstacle: null };
  const isClaimed = statusOf(found) === "claimed";
  const holder = isClaimed ? await options.claims.holderOf(found.id) : null;
  if (holder !== null) {
    return { claim: { holder, isOver: (await options.isOver?.(holder)) ?? false }, obstacle: null };
  }
  return { claim: null, obstacle: isClaimed ? markedByHand(found) : await obstacleOf(found, options) };
}

function markedByHand({ id }: Found): Standing["obstacle"] {
  return {
    reason: `a person has labelled it ${labels.claimed}: no run has claimed it`,
    next: `take the label ${labels.claimed} off ${id} on GitHub when nobody works on it`,
  };
}

async function obstacleOf(found: Found, { me, isWork }: Options): Promise<Standing["obstacle"]> {
  const { id, wire, assignees, blockedBy } = found;
  if (!(await isWork(found))) {
    const author = `${wire.user?.login ?? "an account that is gone"} (${wire.author_association ?? "NONE"})`;
    return {
      reason: `it was written by ${author}, whom pull_requests.trusted does not name`,
      next: `label ${id} with ${labels.admitted} on GitHub, if an agent may do what it says`,
    };
  }
  const own = await me();
  const others = assignees.filter((login) => login !== own);
  if (others.length > 0) {
    return { reason: `it is assigned to ${others.join(", ")}`, next: `take the assignment off ${id} on GitHub` };
  }
  if (blockedBy === 0) return null;
  const issues = blockedBy === 1 ? "1 open issue" : `${blockedBy} open issues`;
  return { reason: `GitHub knows ${issues} to block it`, next: `see what blocks ${id} on GitHub` };
}
