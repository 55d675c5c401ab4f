import type { Store } from "../../app.js";
import { messageOf } from "../../lib/errors.js";
import { isGone } from "../../lib/process-identity.js";
import { shellWord } from "../../views/shell-word.js";

/**
 * Another run whose process has ended in the middle keeps its issues: they are its own until somebody goes on with it. Who
 * works beside it is told so, once of each run.
 */
export interface DeadRuns {
  look(say: (line: string) => void): Promise<void>;
  /** One that lived at the last look has ended since: there may be something to say. Only the system is asked. */
  hasMissed(): boolean;
}

export function openDeadRuns(store: Store, projectId: string): DeadRuns {
  const told = new Set<string>();
  let living: readonly number[] = [];
  const lookFor = async (say: (line: string) => void) => {
    const unfinished = await store.unfinishedRuns(projectId);
    living = unfinished.flatMap(({ driverAlive, driverPid }) => (driverAlive && driverPid !== null ? [driverPid] : []));
    for (const { run, driverAlive } of unfinished) {
      if (driverAlive || run.options.workflow !== undefined || told.has(run.runId)) continue;
      told.add(run.runId);
      say(`the process of run ${run.runId} is gone${await inTheMiddle(store, run.runId)}: ratchet run goes on with it`);
    }
  };
  return {
    // It is a sign for people: what comes of this run does not depend on it.
    look: (say) => lookFor(say).catch((error: unknown) => say(`other runs cannot be looked at: ${messageOf(error)}`)),
    hasMissed: () => living.some(isGone),
  };
}

/** Processes end in silence: somebody has to look. Runs that have come since are found by the slower look. */
const lookMs = 30_000;
const glanceMs = 2000;

/** Returns how to end it. */
export function keepLooking(dead: DeadRuns, say: (line: string) => void): () => void {
  const look = () => void dead.look(say);
  const glance = () => {
    if (dead.hasMissed()) look();
  };
  const timers = [setInterval(look, lookMs), setInterval(glance, glanceMs)];
  for (const timer of timers) timer.unref();
  look();
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

async function inTheMiddle(store: Store, runId: string): Promise<string> {
  const lives = (await store.issueStates(runId)).filter(({ done }) => !done);
  const ids = lives.flatMap(({ state }) => (hasIssue(state) ? [shellWord(state.issueId)] : []));
  return ids.length === 0 ? "" : `, and ${ids.join(", ")} ${ids.length === 1 ? "is" : "are"} still its own`;
}

function hasIssue(state: unknown): state is { readonly issueId: string } {
  if (typeof state !== "object" || state === null || !("issueId" in state)) return false;
  return typeof state.issueId === "string" && state.issueId !== "";
}
