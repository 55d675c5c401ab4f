import type { Store } from "../../app.js";
import { isMissing } from "../../lib/files.js";
import { shellWord } from "../../views/shell-word.js";
import { type Context, knownProject } from "../context.js";
import { ordersOf, stoppedByName } from "../orders.js";

export type Unfinished = Awaited<ReturnType<Store["unfinishedRuns"]>>[number];

/** Whoever runs anything goes on with it first. A workflow goes on when it is asked to: `workflow run --resume`. */
export function isLeft(unfinished: Unfinished): boolean {
  return !unfinished.driverAlive && !isWorkflow(unfinished);
}
export function isWorkflow({ run }: Pick<Unfinished, "run">): boolean {
  return run.options.workflow !== undefined;
}

/** A run that would be continued, as `run --dry-run --json` tells it. */
export interface LeftRun {
  readonly run_id: string;
  /** What it has begun and not ended. */
  readonly issues: readonly string[];
  readonly draining: boolean;
  readonly stopping: boolean;
  /** Of its issues those that were told to stop by their names; absent: none. */
  readonly stopped?: readonly string[];
}

export async function findLeftRuns({ app }: Pick<Context, "app">): Promise<LeftRun[]> {
  const store = await app.store();
  const all = await store.unfinishedRuns((await app.project()).id);
  return await Promise.all(
    all.filter(isLeft).map(async ({ run: { runId } }) => {
      const { children = [] } = (await app.runState(runId)) ?? {};
      const issues = children.map(({ issueId }) => issueId);
      const stopped = await stoppedByName(store, runId);
      const some = stopped.length === 0 ? {} : { stopped };
      return { run_id: runId, issues, ...(await ordersOf(app, runId)), ...some };
    }),
  );
}

/** What a command that is refused would have gone on with first. */
export async function tellHeldUp(context: Context): Promise<void> {
  const { app, out } = context;
  if (isMissing(app.home.database)) return;
  const store = await app.store("reader");
  const project = await knownProject(context, store);
  const all = project === null ? [] : await store.unfinishedRuns(project.id);
  for (const { run } of all.filter(isLeft)) {
    out.note(`run ${run.runId} is unfinished: it goes on, with its own settings, once ratchet run can start`);
  }
}

export function leftRunLine({ run_id, issues, draining, stopping, stopped = [] }: LeftRun): string {
  const what = stopping ? "stopped" : draining ? "drained" : "continued";
  // All of them are, where the run is.
  const apart = stopping ? [] : stopped;
  const rest = issues.filter((id) => !apart.includes(id));
  const which = rest.length === 0 ? "" : `: ${rest.map(shellWord).join(", ")}`;
  const without = apart.length === 0 ? "" : `, and of its issues stopped: ${apart.map(shellWord).join(", ")}`;
  return `first run ${run_id}, whose process is gone, would be ${what}${which}${without}`;
}
