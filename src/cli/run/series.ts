import type { RunRequest } from "../../app.js";
import type { RunOptions } from "../../core/run/effects.js";
import type { Settings } from "../../core/settings.js";
import { messageOf } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { driveToEnd } from "./drive.js";
import { type Interrupts, listenForInterrupts } from "./interrupts.js";
import { tellWaiting } from "./waiting.js";

export interface Series {
  readonly settings: Settings;
  readonly options: RunOptions;
  readonly json: boolean;
  /** Unfinished runs stay where they are. */
  readonly alone?: boolean;
  /** Whoever starts the series has its own last words. */
  readonly withoutSummary?: boolean;
}

/**
 * First the project's unfinished runs that nobody drives, each to its end with its own settings; then the new one, unless
 * they left it nothing to do. Exit code: the worst of all.
 */
export async function driveSeries(context: Context, series: Series): Promise<number> {
  const { app, out } = context;
  const project = await app.project();
  const store = await app.store();
  const interrupts = listenForInterrupts(process);
  try {
    const all = series.alone ? [] : await store.unfinishedRuns(project.id);
    // A workflow goes on when it is asked to: `workflow run --resume`.
    const unfinished = all.filter(({ run }) => run.options.workflow === undefined);
    const codes: number[] = [];
    for (const { run } of unfinished.filter(({ driverAlive }) => !driverAlive)) {
      if (interrupts.level > 0) break;
      say(context, series, `Continuing run ${run.runId} from ${run.startedAt}`);
      // Whoever does not watch wants an end, whatever the run was begun for.
      if (run.options.watch && !series.options.watch) await app.signalRun(run.runId, "unwatch");
      codes.push(await driveOwned(context, { type: "unfinished", runId: run.runId }, { series, interrupts }));
    }
    if (interrupts.level > 0) return 130;
    const others = unfinished.filter(({ driverAlive }) => driverAlive).map(({ run }) => run.runId);
    if (others.length > 0) out.note(`working along with run ${others.join(", ")}`);
    if (codes.length === 0 || series.options.watch || (await hasWork(context, series))) {
      const { settings, options } = series;
      if (codes.length === 0) await tellWaiting(context, options, settings);
      codes.push(await driveOwned(context, { type: "new", settings, options }, { series, interrupts }));
    }
    return worst(codes);
  } finally {
    interrupts.close();
  }
}

function say({ out }: Context, { json }: Series, line: string): void {
  if (json) out.note(line);
  else out.line(line);
}

/** Another process may have taken the run up at the same moment, or while this one slept: then it is that one's. */
async function driveOwned(
  context: Context,
  request: RunRequest,
  { series, interrupts }: { readonly series: Series; readonly interrupts: Interrupts },
): Promise<number> {
  try {
    return await driveToEnd(context, request, { ...series, interrupts });
  } catch (error) {
    if (!isTakenOver(error)) throw error;
    context.out.note(`${messageOf(error)}: that process goes on with the run, see ratchet status`);
    return request.type === "unfinished" ? 0 : 3;
  }
}

function isTakenOver(error: unknown): boolean {
  return error instanceof Error && (error.name === "Fenced" || error.name === "Driven");
}

async function hasWork({ app }: Context, { settings, options }: Series): Promise<boolean> {
  const tracker = await app.tracker(settings);
  const ready = await tracker.ready({ scope: options.scope, resume: options.resume, limit: 1 });
  return ready.length > 0;
}

const badness = [130, 3, 2, 1, 0];

function worst(codes: readonly number[]): number {
  return badness.find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? 0;
}
