import { type Elsewhere, findElsewhere, findTaken, type Work } from "../git/elsewhere.js";
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

function inWords({ issueId, trigger, run: { target } }: LifeContext, { commit, branch }: Elsewhere): string {
  const id = commit.slice(0, 12);
  const merge = `run \`git merge ${id}\` if ${target} shall have that too`;
  const ways = `land it on ${branch}, ${merge}, or start it afresh: \`ratchet retry ${issueId} --afresh\``;
  // A repair is begun anew by the next trigger, and by nobody else.
  return `it was built on ${id} of ${branch}, which ${target} does not have: ${trigger ? merge : ways}`;
}
