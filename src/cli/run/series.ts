import { runSource } from "../../core/follow-up.js";
import type { Tracker } from "../../core/ports/tracker.js";
import type { RunOptions } from "../../core/run/effects.js";
import type { Settings } from "../../core/settings.js";
import { ExternalError, messageOf } from "../../lib/errors.js";
import { openTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";
import { interruptedEarly } from "../guard-asker.js";
import { countOrders } from "../orders.js";
import { tellStuck } from "./check-scope.js";
import { openDeadRuns } from "./dead-runs.js";
import { driveToEnd } from "./drive.js";
import { type Interrupts, listenForInterrupts } from "./interrupts.js";
import { isLeft, isWorkflow, type Unfinished } from "./left-runs.js";
import { tellUnheard } from "./unheard.js";
import { tellWaiting } from "./waiting.js";

export interface Series {
  readonly settings: Settings;
  readonly options: RunOptions;
  readonly json: boolean;
  /** Unfinished runs stay where they are. */
  readonly alone?: boolean;
  /** Whoever starts the series has its own last words. */
  readonly withoutSummary?: boolean;
  /** Of the issues that are named none can start. */
  readonly isEmpty?: boolean;
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
  const codes: number[] = [];
  const continued: string[] = [];
  const endHere = async (): Promise<number> => {
    if (codes.length === 0) out.note(interruptedEarly);
    else await tellUnbegun(context, series, continued);
    return 130;
  };
  try {
    const unfinished = series.alone ? [] : await store.unfinishedRuns(project.id);
    for (const { run } of unfinished.filter(isLeft)) {
      if (interrupts.level > 0) break;
      // Counted before anybody can know that this process goes on with it.
      const orders = await countOrders(app, run.runId);
      const code = await continueRun(context, run, { series, interrupts });
      if (code === null) continue;
      codes.push(code);
      continued.push(run.runId);
      // Told to end from another terminal while this process drove it: whoever said so means all of its work. What was
      // said before means that run alone.
      if (code === 130 && (await countOrders(app, run.runId)) > orders) return await endHere();
    }
    const now = series.alone ? [] : await store.unfinishedRuns(project.id);
    const others = now.filter((one) => one.driverAlive && !isWorkflow(one)).map(({ run }) => run.runId);
    if (others.length > 0 && interrupts.level === 0) out.note(`working along with run ${others.join(", ")}`);
    const options = await lookAhead(context, series, { continued, interrupts });
    if (options === "interrupted") return await endHere();
    if (typeof options !== "string") codes.push(await driveNew(context, { ...series, options }, interrupts));
    return worst(options === "stuck" ? [...codes, 1] : codes);
  } catch (error) {
    // Before the next run had begun.
    if (!interrupts.signal.aborted || error !== interrupts.signal.reason) throw error;
    return await endHere();
  } finally {
    interrupts.close();
  }
}

/** What was named for a run that is not begun any more, unless one of those before it has had it. */
async function tellUnbegun(context: Context, series: Series, continued: readonly string[]): Promise<void> {
  const { scope } = series.options;
  if (scope.type !== "ids") return;
  const store = await context.app.store();
  for (const id of scope.ids) {
    const had = await Promise.all(continued.map((runId) => store.issueRecord(runId, id)));
    if (had.some((record) => record !== null)) continue;
    say(
      context,
      series,
      `${id} did not run: run ${continued.at(-1)}, which came first, was told to end, and no other was begun`,
    );
  }
}

/** null: another process has it. It began it a moment ago, or took it up while this one drove another: nothing is said of it. */
async function continueRun(
  context: Context,
  { runId, startedAt, options }: Unfinished["run"],
  { series, interrupts }: { readonly series: Series; readonly interrupts: Interrupts },
): Promise<number | null> {
  const announce = () => say(context, series, `Continuing run ${runId} from ${startedAt}`);
  let isOurs = false;
  const begun = async (): Promise<void> => {
    isOurs = true;
    announce();
    // Whoever does not watch wants an end, whatever the run was begun for.
    if (options.watch && !series.options.watch) await context.app.signalRun(runId, "unwatch");
  };
  try {
    return await driveToEnd(context, { type: "unfinished", runId }, { ...series, interrupts, begun });
  } catch (error) {
    if (isOurs) return tellTakenOver(context, error, 0);
    if (isTakenOver(error)) return null;
    announce();
    throw error;
  }
}

/** What the new run is to do, and what has to be said before. `done`: nothing is left for it. `stuck`: nothing that can run. */
async function lookAhead(
  context: Context,
  { settings, options, isEmpty = false }: Series,
  { continued, interrupts }: { readonly continued: readonly string[]; readonly interrupts: Interrupts },
): Promise<RunOptions | "interrupted" | "done" | "stuck"> {
  const { signal } = interrupts;
  if (signal.aborted) return "interrupted";
  const asked = { settings, tracker: await openTracker(context, settings, { signal }) };
  try {
    const work = await lookForWork(context, { ...options, isEmpty }, { tracker: asked.tracker, continued });
    // A run says at its end what was named and did not run; here there is none.
    if (!options.watch && !work.isThere) return (await tellStuck(context, options, asked)) ? "stuck" : "done";
    const wanted = work.leave.length === 0 ? options : { ...options, leave: work.leave };
    if (continued.length === 0) await tellWaiting(context, wanted, asked);
    await tellUnheard(context, wanted, asked);
    return wanted;
  } catch (error) {
    // The question was ended with it: there is no answer to go by.
    if (signal.aborted && error instanceof ExternalError) return "interrupted";
    throw error;
  }
}

/** Whoever is asked to do everything says what it has to leave to others that are not there any more. */
async function driveNew(context: Context, series: Series, interrupts: Interrupts): Promise<number> {
  const { settings, options, alone = false } = series;
  const request = { type: "new", settings, options } as const;
  const { app, out } = context;
  const dead = alone ? null : openDeadRuns(await app.store(), (await app.project()).id);
  const driven = driveToEnd(context, request, { ...series, interrupts, ...(dead ? { dead } : {}) });
  const code = await driven.catch((error: unknown) => tellTakenOver(context, error, 3));
  await dead?.look((line) => out.note(line));
  return code;
}

function say({ out }: Context, { json }: Series, line: string): void {
  if (json) out.note(line);
  else out.line(line);
}

/** Another process may have taken the run up at the same moment, or while this one slept: then it is that one's. */
function tellTakenOver({ out }: Context, error: unknown, code: number): number {
  if (!isTakenOver(error)) throw error;
  out.note(`${messageOf(error)}: that process goes on with the run, see ratchet status`);
  return code;
}

function isTakenOver(error: unknown): boolean {
  return error instanceof Error && (error.name === "Fenced" || error.name === "Driven");
}

const everything = 100_000;

/**
 * Whether anything is left after the runs that were continued; what a tracker is still to be told is work, too. Their follow-ups stay for later, as they would have if
 * nothing had come in between; whoever names one means it.
 */
async function lookForWork(
  { app }: Context,
  { scope, resume, isEmpty }: RunOptions & { readonly isEmpty: boolean },
  { tracker, continued }: { readonly tracker: Tracker; readonly continued: readonly string[] },
) {
  if (continued.length === 0) return { isThere: !isEmpty || (await app.untold(tracker.kind)).length > 0, leave: [] };
  const store = await app.store();
  const ready = await tracker.ready({ scope, resume, limit: everything });
  const records = await Promise.all(continued.map((runId) => store.issueRecords(runId)));
  const sources = new Set([...records.flat().map(({ issueId }) => issueId), ...continued.map(runSource)]);
  const noted = await Promise.all(continued.map((runId) => app.followUpsOf(runId)));
  const ids = new Set(noted.flat());
  const made = ready.filter(({ id, followUpOf }) => ids.has(id) || (followUpOf != null && sources.has(followUpOf)));
  const leave = scope.type === "ids" ? [] : made.map(({ id }) => id);
  return { isThere: ready.length > leave.length, leave };
}

const badness = [130, 3, 2, 1, 0];

function worst(codes: readonly number[]): number {
  return badness.find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? 0;
}
