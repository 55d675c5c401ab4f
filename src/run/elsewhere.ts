import { type Elsewhere, findElsewhere, findTaken, type Work } from "../git/landing/elsewhere.js";
import { type LifeContext, worktreePath } from "./context.js";

type Ends = Pick<Work, "base" | "head" | "demanded">;

/** Why work may not be gone on with for this target: it would bring commits of another branch there. null: it may. */
export async function whyElsewhere(life: LifeContext, work: Ends): Promise<string | null> {
  return await ask(life, work, findElsewhere);
}

/** The same right before it lands: what it began from was looked at when it was opened. */
export async function whyTaken(life: LifeContext, work: Ends): Promise<string | null> {
  return await ask(life, work, findTaken);
}

async function ask(life: LifeContext, work: Ends, find: typeof findElsewhere): Promise<string | null> {
  const { mirror, settings, target } = life.run;
  // In a pull request its commits are there to be seen, and the remote's branch may be ahead of the one here. A trigger's repair is in none.
  if (settings.finalize.mode === "pr" && !life.trigger) return null;
  const found = await find(mirror, { ...work, path: worktreePath(life), branch: life.names.branch, target });
  return found && inWords(life, found);
}

function inWords(life: LifeContext, { commit, branch, isKept }: Elsewhere): string {
  const { issueId, trigger, run } = life;
  const id = commit.slice(0, 12);
  // What Ratchet alone has nobody can merge.
  const merge = isKept ? [] : [`run \`git merge ${id}\` if ${run.target} shall have that too`];
  const first = branch.startsWith("ratchet/") ? "land that first" : `land it on ${branch}`;
  const ways = [first, ...merge];
  // A repair is begun anew by the next trigger, and by nobody else.
  const last = trigger ? ways.slice(-1) : [...ways, `or start it afresh: \`ratchet retry ${issueId} --afresh\``];
  return `it was built on ${id} of ${branch}, which ${run.target} does not have: ${last.join(", ")}`;
}
