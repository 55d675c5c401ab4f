import { setTimeout as wait } from "node:timers/promises";
import type { Store } from "../app.js";
import { howItGoes } from "../views/status.js";
import type { Context } from "./context.js";
import { ordersOf } from "./orders.js";

type Run = Awaited<ReturnType<Store["run"]>>;

/** What the records call running and nobody drives any more; null: of every project. */
export async function undrivenRuns(store: Store, projectId: string | null): Promise<ReadonlySet<string>> {
  const unfinished = await store.unfinishedRuns(projectId);
  return new Set(unfinished.filter(({ driverAlive }) => !driverAlive).map(({ run }) => run.runId));
}

/** How such a run goes on; null: somebody drives it, or it is over. */
export async function howUndriven(
  { app }: Pick<Context, "app">,
  { runId, projectId, status, options }: Run,
): Promise<string | null> {
  const store = await app.store("reader");
  if (!(await undrivenRuns(store, projectId)).has(runId)) return null;
  const file = options.workflow === undefined ? {} : { workflow_file: options.workflow.file };
  const aborting = (await app.runState(runId))?.aborting ?? false;
  return howItGoes({ run_id: runId, status, ...(await ordersOf(app, runId)), aborting, driven: false, ...file });
}

/** Processes end in silence: somebody has to look. */
const lookMs = 1000;

/** Says of a run each time that nobody drives it any more, until aborted. */
export async function tellUndriven(
  context: Pick<Context, "app" | "out">,
  run: Run,
  signal: AbortSignal,
): Promise<void> {
  for (let last: string | null = null; ; ) {
    await wait(lookMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const how = await howUndriven(context, run);
    if (how !== null && how !== last) context.out.note(`run ${run.runId}: ${how}`);
    last = how;
  }
}
