import type { Store } from "../../app.js";
import { shellWord } from "../../views/shell-word.js";
import type { Context } from "../context.js";
import { ordersOf } from "../orders.js";

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
}

export async function findLeftRuns({ app }: Pick<Context, "app">): Promise<LeftRun[]> {
  const all = await (await app.store()).unfinishedRuns((await app.project()).id);
  return await Promise.all(
    all.filter(isLeft).map(async ({ run: { runId } }) => {
      const { children = [] } = (await app.runState(runId)) ?? {};
      return { run_id: runId, issues: children.map(({ issueId }) => issueId), ...(await ordersOf(app, runId)) };
    }),
  );
}

export function leftRunLine({ run_id, issues, draining, stopping }: LeftRun): string {
  const what = stopping ? "stopped" : draining ? "drained" : "continued";
  const which = issues.length === 0 ? "" : `: ${issues.map(shellWord).join(", ")}`;
  return `first run ${run_id}, whose process is gone, would be ${what}${which}`;
}
