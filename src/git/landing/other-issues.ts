import { dirname, join } from "node:path";
import { baseRef, type Mirror, readRefs } from "../mirror/mirror-refs.js";
import { commitsSince, type Parents } from "../objects/commits-since.js";
import { type MoveLog, movesIn } from "./moved-onto.js";

/** What work has and its target has not, but for what was made in its checkout. */
export interface Taken {
  /** Newest first. */
  readonly unknown: readonly string[];
  /** The first commit of the work's own: whoever has it made theirs from it, or has taken it in. null: there is none. */
  readonly own: string | null;
  readonly ends: readonly string[];
}

/**
 * An issue that has neither landed nor been given to the user has its branch in the mirror: whoever takes that in would land
 * what has not passed, or not yet. What it has committed since it was last looked at its checkout's log tells.
 */
export async function findOfIssues(
  mirror: Mirror,
  work: { readonly path: string; readonly branch: string },
  { unknown, own, ends }: Taken,
): Promise<{ readonly commit: string; readonly branch: string } | null> {
  const others = (await readIssues(mirror)).filter(({ branch }) => branch !== work.branch);
  const tips = others.flatMap(({ tip, base }) => (tip === base ? [] : [tip]));
  const bases = others.flatMap(({ base }) => base ?? []);
  const parents = tips.length === 0 ? none : await commitsSince(mirror, tips, [...ends, ...bases]);
  for (const { branch, tip } of others) {
    const { made, reached, began } = movesIn(mirror, join(dirname(work.path), nameOf(branch)));
    const line = ownLine(parents, { tip, made, reached });
    // It has taken this work in: only what was made there is known to be its own.
    const theirs = own !== null && belowIn(parents, tip).has(own) ? none : line;
    const commit = unknown.find((one) => theirs.has(one) || (made.has(one) && one !== began));
    if (commit !== undefined) return { commit, branch };
  }
  return null;
}

const none: Parents = new Map();

/** What it merged is not its own part of its line, nor what is below a commit that it went to. */
function ownLine(
  parents: Parents,
  { tip, made, reached }: Pick<MoveLog, "made" | "reached"> & { readonly tip: string },
): ReadonlySet<string> {
  const line = new Set<string>();
  for (let id: string | undefined = tip; id !== undefined && parents.has(id); id = parents.get(id)?.[0]) {
    if (reached.has(id) && !made.has(id)) break;
    line.add(id);
  }
  return line;
}

interface IssueBranch {
  readonly branch: string;
  readonly tip: string;
  /** What it began from is not its own. */
  readonly base: string | undefined;
}

/** One look at the refs, however many there are. A workspace is beside some issue's checkout, and is merged there. */
async function readIssues({ path }: Mirror): Promise<readonly IssueBranch[]> {
  const refs = await readRefs(path, ["refs/heads/ratchet", baseRef("ratchet")]);
  return [...refs].flatMap(([ref, tip]) => {
    if (!ref.startsWith("refs/heads/") || ref.startsWith(`refs/heads/${workspaceBranches}`)) return [];
    const branch = ref.slice("refs/heads/".length);
    return [{ branch, tip, base: refs.get(baseRef(branch)) }];
  });
}

export const workspaceBranches = "ratchet/workspace-";

function nameOf(branch: string): string {
  return branch.slice("ratchet/".length);
}

function belowIn(parents: Parents, tip: string): Parents {
  const found = new Map<string, readonly string[]>();
  const left = [tip];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const above = parents.get(id);
    if (above === undefined || found.has(id)) continue;
    found.set(id, above);
    left.push(...above);
  }
  return found;
}
