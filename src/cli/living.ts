import type { Store } from "../app.js";

/** An issue's life that somebody drives right now. */
export interface LivingIssue {
  readonly runId: string;
  readonly machine: string;
}

export async function findLiving(store: Store, projectId: string, issueId: string): Promise<LivingIssue | null> {
  for (const { run, driverAlive } of await store.unfinishedRuns(projectId)) {
    const own = run.runId === issueId && driverAlive ? await store.machines(run.runId) : [];
    const workflow = own.findLast(({ kind, done }) => kind === "run" && !done);
    // A workflow's findings are its run's.
    if (workflow && run.options.workflow) return { runId: run.runId, machine: workflow.id };
    const found = (await store.issueStates(run.runId)).find(
      (machine) => !machine.done && machine.driverAlive && issueOf(machine.state) === issueId,
    );
    if (found) return { runId: run.runId, machine: found.id };
  }
  return null;
}

function issueOf(state: unknown): unknown {
  return typeof state === "object" && state !== null && "issueId" in state ? state.issueId : null;
}
