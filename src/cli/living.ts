import type { Store } from "../app.js";

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

async function begunLives(store: Store, projectId: string, issueId: string): Promise<BegunIssue[]> {
  const found: BegunIssue[] = [];
  for (const { run, driverAlive } of await store.unfinishedRuns(projectId)) {
    const { runId } = run;
    const own = runId === issueId && run.options.workflow !== undefined ? await store.machines(runId) : [];
    const workflow = own.findLast(({ kind, done }) => kind === "run" && !done);
    // A workflow's findings are its run's.
    if (workflow) found.push({ runId, machine: workflow.id, alive: driverAlive });
    for (const { id, done, state, driverAlive: alive } of await store.issueStates(runId)) {
      if (!done && issueOf(state) === issueId) found.push({ runId, machine: id, alive });
    }
  }
  return found;
}

function issueOf(state: unknown): unknown {
  return typeof state === "object" && state !== null && "issueId" in state ? state.issueId : null;
}
