import type { PullRequests, RunRequest } from "../../app.js";
import type { Context } from "../context.js";
import { prepare } from "./command.js";

/**
 * Pushes what passed everything while the forge was away, as a run that starts no agent; what became of each is told.
 * Returns the run's exit code; 0 where nothing was owed.
 */
export async function deliverOwed(
  context: Context,
  room: Pick<PullRequests, "undelivered">,
  number: number | null,
): Promise<number> {
  await finishBroken(context);
  const ids = await room.undelivered(number);
  if (ids.length === 0) return 0;
  const settings = await prepare(context, {});
  const scope = { type: "ids", ids } as const;
  const options = { scope, resume: false, strict: false, fresh: false, maxIssues: null, only: "push" } as const;
  return await pushAll(context, { type: "new", settings, options });
}

/** Whoever was killed while pushing may never run anything but this. */
async function finishBroken(context: Context): Promise<void> {
  const { app } = context;
  for (const { run, driverAlive } of await (await app.store()).unfinishedRuns((await app.project()).id)) {
    if (!driverAlive && run.options.only === "push") await pushAll(context, { type: "unfinished", runId: run.runId });
  }
}

async function pushAll({ app, out }: Context, request: RunRequest): Promise<number> {
  const run = await app.openRun(request);
  const { exitCode } = await run.done;
  for (const { issueId, record } of await (await app.store()).issueRecords(run.runId)) {
    out.note(record.status === "success" ? `${issueId}: pushed` : `${issueId}: not pushed: ${record.message}`);
  }
  return exitCode;
}
