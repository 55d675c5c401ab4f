import type { Store } from "../../app.js";
import { Refusal } from "../../lib/errors.js";
import { findRun } from "../board-scope.js";
import type { Context } from "../context.js";
import { findBegun } from "../living.js";
import { isLeft } from "../run/left-runs.js";
import { typed } from "../typed.js";

interface SignalOptions {
  readonly what: string | undefined;
  readonly json?: boolean;
}

interface Reached {
  readonly run_id: string;
  readonly issue_id?: string;
  /** Somebody drives it now; otherwise it finds the signal when it is taken up again. */
  readonly alive: boolean;
}

/** Without a name every run of this repository that somebody drives or goes on with; else a run, or one issue of it. */
export async function sendSignal(
  context: Context,
  name: "drain" | "stop",
  { what, json }: SignalOptions,
): Promise<number> {
  const reached = await reach(context, name, what);
  if (json) context.out.json({ signal: name, reached });
  else for (const one of reached) context.out.line(sentenceOf(one, name));
  return 0;
}

async function reach(context: Context, name: "drain" | "stop", what: string | undefined): Promise<Reached[]> {
  const { app } = context;
  const project = await app.project();
  const store = await app.store();
  const runs = await store.unfinishedRuns(project.id);
  if (what !== undefined) {
    const begun = await findBegun(store, project.id, what);
    if (begun) {
      // A workflow run is its own life.
      const issue = what === begun.runId ? {} : { issue_id: what };
      // Before it is free again, so that no other run takes it meanwhile.
      if (name === "stop" && issue.issue_id !== undefined) await store.workItems.noteStop(project.id, what);
      await store.signal(begun.machine, { name });
      return [{ run_id: begun.runId, ...issue, alive: begun.alive }];
    }
  }
  // A killed workflow is taken up only by who asks for it: what is left for it would undo just that.
  const chosen =
    what === undefined ? runs.filter((one) => one.driverAlive || isLeft(one)) : [await oneOf(context, store, what)];
  if (chosen.length === 0) throw new Refusal("no run is at work in this repository", { hint: "ratchet status" });
  for (const { run } of chosen) await app.signalRun(run.runId, name);
  return chosen.map(({ run, driverAlive }) => ({ run_id: run.runId, alive: driverAlive }));
}

type Unfinished = Awaited<ReturnType<Store["unfinishedRuns"]>>[number];

/** A run that is named may be another repository's. */
async function oneOf(context: Context, store: Store, what: string): Promise<Unfinished> {
  const { runId, status, projectId } = await findRun(context, store, what).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.code === "ambiguous" || what === "last") throw error;
    throw new Refusal(`no run and no running issue ${typed(what)}`, { code: "not-found", hint: "ratchet status" });
  });
  const found = (await store.unfinishedRuns(projectId)).find(({ run }) => run.runId === runId);
  if (found) return found;
  throw new Refusal(`run ${runId} has ended (${status})`, { code: "wrong-status" });
}

function sentenceOf({ run_id, issue_id, alive }: Reached, name: "drain" | "stop"): string {
  const what = issue_id === undefined ? `run ${run_id}` : `${issue_id} in run ${run_id}`;
  const word = name === "drain" ? "draining" : "stopping";
  return alive ? `${what} is ${word}` : `${what} has no process: it will be ${word} when it is taken up again`;
}
