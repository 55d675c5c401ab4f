import { setTimeout as delay } from "node:timers/promises";
import type { RunRequest, StartedRun, Store } from "../../app.js";
import type { PublicEvent } from "../../core/report.js";
import { messageOf } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { whileGuardsAreTested } from "../guard-asker.js";
import { type DeadRuns, keepLooking } from "./dead-runs.js";
import type { Interrupts } from "./interrupts.js";
import { openPresenter } from "./open-presenter.js";
import type { Presenter } from "./presenter.js";
import { openRunLog, type RunLog } from "./run-log.js";
import { announceWorker } from "./worker.js";

export interface DriveOptions {
  readonly json: boolean;
  readonly withoutSummary?: boolean;
  readonly interrupts: Interrupts;
  /** Before anything of it is shown: this process drives it now. */
  readonly begun?: () => Promise<void>;
  /** Looked for while the run goes on. */
  readonly dead?: DeadRuns;
}

const pageSize = 1000;

/** Starts (or takes up) one run, shows it while it goes on, and returns its exit code. */
export async function driveToEnd(context: Context, request: RunRequest, options: DriveOptions): Promise<number> {
  const store = await context.app.store();
  const past = request.type === "unfinished" ? await readEvents(store, request.runId, 0) : [];
  const run = await whileGuardsAreTested(context, options.interrupts.signal, (asker) =>
    context.app.openRun(request, asker),
  );
  if (options.begun) {
    await run.begun();
    await options.begun();
  }
  const presenter = await openPresenter(context, run.runId, options);
  const detach = options.interrupts.attach(run, (text) => presenter.say(text));
  const log = openRunLog(context, run.runId);
  const worker = announceWorker(store, run.runId, (text) => presenter.say(text));
  const endLooking = options.dead ? keepLooking(options.dead, (text) => presenter.say(text)) : () => undefined;
  const show: Show = { presenter, log, shown: past.at(-1)?.seq ?? 0, everyMs: options.json ? 0 : 100 };
  log.add(past);
  for (const event of past) presenter.past(event);
  try {
    return await followToEnd(store, run, show);
  } finally {
    detach();
    endLooking();
    await worker.end();
    log.close();
    await presenter.end();
  }
}

interface Show {
  readonly presenter: Presenter;
  readonly log: RunLog;
  /** The number of the newest event that was shown. */
  shown: number;
  /** What comes sooner after what was shown last waits for this: many lives at once are one picture, and one write. */
  readonly everyMs: number;
}

function showEvents(show: Show, events: readonly PublicEvent[]): void {
  const last = events.at(-1);
  if (last === undefined) return;
  show.shown = last.seq;
  show.presenter.events(events, show.log.add(events));
}

/** The events are read back from the store: what is shown is what is recorded, and showing never holds up the run. */
export async function followToEnd(
  store: Store,
  run: Pick<StartedRun, "runId"> & { readonly done: Promise<{ readonly exitCode: number }> },
  show: Show,
): Promise<number> {
  const ended = new AbortController();
  const following = (async () => {
    for await (const events of store.followEvents(run.runId, show.shown, ended.signal)) {
      showEvents(show, events);
      // Cut short by the end of the run, which shows the rest.
      if (show.everyMs > 0) await delay(show.everyMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  })().catch((error: unknown) => show.presenter.say(`the events cannot be followed: ${messageOf(error)}`));
  try {
    return (await run.done).exitCode;
  } finally {
    ended.abort();
    await following;
    showEvents(show, await readEvents(store, run.runId, show.shown));
  }
}

export async function readEvents(store: Store, runId: string, after: number): Promise<PublicEvent[]> {
  const events: PublicEvent[] = [];
  for (let seq = after; ; ) {
    const page = await store.eventsAfter(runId, seq, pageSize);
    events.push(...page);
    seq = page.at(-1)?.seq ?? seq;
    if (page.length < pageSize) return events;
  }
}
