import { realpathSync } from "node:fs";
import type { Store } from "../app.js";
import { Refusal } from "../lib/errors.js";
import { isMissing } from "../lib/files.js";
import { safeName } from "../lib/home.js";
import { processesIn } from "../lib/process/table.js";
import { shellWord } from "../views/shell-word.js";
import type { Context } from "./context.js";
import { inTheMiddle } from "./living.js";

/**
 * Who works in an issue's worktree. It is taken from under nobody: not from a run at work, nor from one that has died, whose
 * agent may live on and which the next `ratchet run` takes up there, nor from any other process.
 */
export interface WorktreeUse {
  readonly why: string;
  readonly hint: string;
}

/** Of the worktree of this name, which is its issue's as a file name. */
export async function findUse({ app }: Context, name: string): Promise<WorktreeUse | null> {
  const { id: projectId } = await app.project();
  const byLife = await findLifeIn(await app.store(), projectId, name);
  return byLife ?? useByProcess(app.home.worktree(projectId, name));
}

export async function refuseInUse(context: Context, issue: string): Promise<void> {
  const use = await findUse(context, safeName(issue));
  if (use !== null) throw new Refusal(use.why, { hint: use.hint });
}

/** Does something with a worktree that is taken from nobody, and that nobody else takes meanwhile. */
export async function withUnused<T>(
  context: Context,
  issue: string,
  task: (worktrees: Awaited<ReturnType<Context["app"]["worktrees"]>>) => Promise<T>,
): Promise<T> {
  // Asked before, too: nobody waits here for a run that has it.
  await refuseInUse(context, issue);
  const worktrees = await context.app.worktrees();
  return await worktrees.alone(issue, async () => {
    await refuseInUse(context, issue);
    return await task(worktrees);
  });
}

/** One that somebody drives comes first. */
async function findLifeIn(store: Store, projectId: string, name: string): Promise<WorktreeUse | null> {
  let dead: WorktreeUse | null = null;
  for (const { runId, issueId: id, driverAlive } of await store.unfinishedLives(projectId)) {
    // An item of a pull request works where its issue did.
    const { implementation_work_item_id: issue = id } = (await store.workItems.get(projectId, id))?.payload ?? {};
    if (safeName(issue) !== name) continue;
    if (driverAlive) return useByLife(runId, id, true);
    dead = useByLife(runId, id, false);
  }
  return dead;
}

function useByLife(runId: string, id: string, isAlive: boolean): WorktreeUse {
  if (isAlive) return { why: `run ${runId} is at work on ${id}`, hint: `ratchet stop ${shellWord(id)}` };
  return inTheMiddle(runId, id);
}

function useByProcess(path: string): WorktreeUse | null {
  const found = isMissing(path) ? [] : processesIn(realpathSync(path));
  if (found === null) {
    return { why: `whether somebody works in ${path} cannot be told here`, hint: "install lsof, which tells it" };
  }
  const pids = found.filter((pid) => pid !== process.pid);
  if (pids.length === 0) return null;
  const [first, ...others] = pids;
  const who = others.length === 0 ? `process ${first} works` : `processes ${pids.slice(0, 5).join(", ")} work`;
  return { why: `${who} in ${path}`, hint: "end it, or let it leave that folder" };
}
