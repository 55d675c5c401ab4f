import type { Store } from "../../app.js";
import { messageOf } from "../../lib/errors.js";
import { shellWord } from "../../views/shell-word.js";

/**
 * Another run whose process has ended in the middle keeps its issues: they are its own until somebody goes on with it. Who
 * works beside it is told so, once of each run.
 */
export interface DeadRuns {
  look(say: (line: string) => void): Promise<void>;
}

export function openDeadRuns(store: Store, projectId: string): DeadRuns {
  const told = new Set<string>();
  const lookFor = async (say: (line: string) => void) => {
    for (const { run, driverAlive } of await store.unfinishedRuns(projectId)) {
      if (driverAlive || run.options.workflow !== undefined || told.has(run.runId)) continue;
      told.add(run.runId);
      say(`the process of run ${run.runId} is gone${await inTheMiddle(store, run.runId)}: ratchet run goes on with it`);
    }
  };
  return {
    // It is a sign for people: what comes of this run does not depend on it.
    look: (say) => lookFor(say).catch((error: unknown) => say(`other runs cannot be looked at: ${messageOf(error)}`)),
  };
}

/** Processes end in silence: somebody has to look. */
const lookMs = 30_000;

/** Returns how to end it. */
export function keepLooking(dead: DeadRuns, say: (line: string) => void): () => void {
  const timer = setInterval(() => void dead.look(say), lookMs);
  timer.unref();
  return () => clearInterval(timer);
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
