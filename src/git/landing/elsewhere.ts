import { gitText } from "../git.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { commitsSince, type Parents } from "../objects/commits-since.js";
import { LooseObjects } from "../objects/loose-objects.js";
import { formerRefs, formerTargetOf } from "./former-target.js";
import { firstOwn, type MoveLog, movesIn } from "./moved-onto.js";
import { findOfIssues, type Taken } from "./other-issues.js";
import { landedRefs, readEnds } from "./tip.js";
import { isIn } from "./withdrawn.js";

/**
 * Work is landed with everything it was built on. Where it was begun from one branch and is to land on another, or its
 * agent has merged one or put it onto one, that would be other people's commits, which nobody has asked for. So it is known
 * before anything is done, and again before it lands.
 *
 * A branch that has the first commit of the work's own was made from it, or has taken it in: what is on such branches alone
 * is the work's. So is what was made in its checkout.
 */
export interface Elsewhere {
  readonly commit: string;
  /** A branch that has it; the target does not. */
  readonly branch: string;
  /** It is another issue's, and Ratchet alone has it. */
  readonly isKept?: true;
}

export interface Work {
  /** Where its checkout is, or was. */
  readonly path: string;
  readonly target: string;
  /** Its own: what a person adds there is meant for it. */
  readonly branch: string;
  readonly base: string;
  readonly head: string;
  /** What it was told to merge, as the target's: whoever drops it there meanwhile is asked at landing. */
  readonly demanded?: string;
}

/** Of what work began from and has taken in since, the first that another branch of the user's has and the target has not. */
export async function findElsewhere(mirror: Mirror, work: Work): Promise<Elsewhere | null> {
  const { landed, user } = await readEnds(mirror, work.target);
  if (!(await isIn(mirror, work.base, [landed, user]))) {
    // What was given as an issue's branch began there, too, and is no place that it comes from.
    const others = await otherBranches(mirror, work, [`--contains=${work.base}`]);
    const other = others.find(({ name }) => !name.startsWith("ratchet/"));
    if (other !== undefined) return { commit: work.base, branch: other.name };
  }
  return await findTaken(mirror, work);
}

/** The same of what it has taken in alone. No git is started for a plain line of commits in a checkout that went nowhere. */
export async function findTaken(mirror: Mirror, work: Work): Promise<Elsewhere | null> {
  const { target, base, head, demanded = base } = work;
  const log = movesIn(mirror, work.path);
  if (log.reached.size === 0 && isPlainLine(mirror, base, head)) return null;
  const { landed, user } = await readEnds(mirror, target);
  const ends = [base, demanded, landed, user].filter((end) => end !== null);
  const since = await commitsSince(mirror, [head], ends);
  const unknown = [...since.keys()].filter((commit) => !log.made.has(commit));
  if (unknown.length === 0) return null;
  const own = firstOwn(lineTo(head, since), { made: log.made, reached: await reachedWithBelow(mirror, log, ends) });
  const taken = { unknown, own, ends };
  const found = await findOfUser(mirror, work, taken);
  if (found !== null) return found;
  const kept = await findOfIssues(mirror, work, taken);
  return kept && { ...kept, isKept: true };
}

/** Whoever goes to a commit has what is below it, too: the commit itself may have been amended since. */
async function reachedWithBelow(mirror: Mirror, { reached, began }: MoveLog, ends: readonly string[]) {
  if (reached.size === 0) return reached;
  const known = began === null ? ends : [...ends, began];
  return new Set((await commitsSince(mirror, [...reached], known)).keys());
}

async function findOfUser(mirror: Mirror, work: Work, { unknown, own, ends }: Taken): Promise<Elsewhere | null> {
  const withoutOwn = own === null ? [] : [`--no-contains=${own}`];
  const others = await otherBranches(mirror, work, withoutOwn);
  const left = await commitsSince(mirror, [work.head], [...ends, ...others.map(({ tip }) => tip)]);
  const commit = unknown.find((one) => !left.has(one));
  if (commit === undefined) return null;
  const [having] = await otherBranches(mirror, work, [...withoutOwn, `--contains=${commit}`]);
  return having === undefined ? null : { commit, branch: having.name };
}

const stepsAtMost = 100;

/** False: there is a merge among them, or git has to say. */
function isPlainLine({ path }: Mirror, base: string, head: string): boolean {
  const objects = new LooseObjects([path]);
  let id = head;
  for (let steps = 0; id !== base; steps++) {
    const [parent, ...others] = objects.commit(id)?.parents ?? [];
    if (parent === undefined || others.length > 0 || steps >= stepsAtMost) return false;
    id = parent;
  }
  return true;
}

/** Those of them that are the work's own side of its merges, oldest first. */
function lineTo(head: string, commits: Parents): readonly string[] {
  const line: string[] = [];
  for (let id: string | undefined = head; id !== undefined && commits.has(id); id = commits.get(id)?.[0]) line.push(id);
  return line.reverse();
}

/** What a target has no longer is on none. */
async function otherBranches(
  { path }: Mirror,
  { target, branch }: Pick<Work, "target" | "branch">,
  which: readonly string[],
): Promise<readonly { readonly name: string; readonly tip: string }[]> {
  const places = ["refs/user/heads", landedRefs, formerRefs];
  const refs = await gitText(path, ["for-each-ref", "--format=%(objectname) %(refname)", ...which, ...places]);
  const found = refs.split("\n").flatMap((line) => {
    const [tip = "", ref = ""] = line.split(" ");
    // Where it was when it was last fetched: what has been dropped since is there still.
    if (ref === `refs/user/heads/${target}`) return [];
    return places.flatMap((place) => nameBelow(ref, place)).map((name) => ({ name, tip }));
  });
  return found.filter(({ name }) => name !== branch);
}

function nameBelow(ref: string, place: string): readonly string[] {
  if (!ref.startsWith(`${place}/`)) return [];
  const name = ref.slice(place.length + 1);
  return [place === formerRefs ? formerTargetOf(name) : name];
}
