import type { Store } from "../app.js";
import { shellWord } from "../views/shell-word.js";

/** An issue's life that has not ended. */
export interface BegunIssue {
  readonly runId: string;
  readonly machine: string;
  /** Somebody drives it right now. */
  readonly alive: boolean;
}

/** The one that somebody drives right now. */
export async function findLiving(store: Store, projectId: string, issueId: string): Promise<BegunIssue | null> {
  return (await begunLives(store, projectId, issueId)).find(({ alive }) => alive) ?? null;
}

/** Also one whose process is gone; what is driven comes first. */
export async function findBegun(store: Store, projectId: string, issueId: string): Promise<BegunIssue | null> {
  const [first = null, ...others] = await begunLives(store, projectId, issueId);
  return others.find(({ alive }) => alive && !first?.alive) ?? first;
}

/** What a run has begun is its own, also when its process is gone: its agent may live on, and the next `ratchet run` goes on there. */
export function inTheMiddle(runId: string, issueId: string): { readonly why: string; readonly hint: string } {
  return {
    why: `run ${runId} is in the middle of ${issueId}, and its process is gone`,
    hint: `ratchet run goes on with it, or after ratchet stop ${shellWord(issueId)} stops it: then it is free`,
  };
}

async function begunLives(store: Store, projectId: string, issueId: string): Promise<BegunIssue[]> {
  const lives = (await store.unfinishedLives(projectId)).filter((life) => life.issueId === issueId);
  const begun = lives.map(({ runId, machine, driverAlive: alive }) => ({ runId, machine, alive }));
  return [...(await workflowOf(store, projectId, issueId)), ...begun];
}

/** A workflow's findings are its run's. */
async function workflowOf(store: Store, projectId: string, runId: string): Promise<BegunIssue[]> {
  const unfinished = (await store.unfinishedRuns(projectId)).find(({ run }) => run.runId === runId);
  if (unfinished?.run.options.workflow === undefined) return [];
  const machine = (await store.machines(runId)).findLast(({ kind, done }) => kind === "run" && !done);
  return machine === undefined ? [] : [{ runId, machine: machine.id, alive: unfinished.driverAlive }];
}
