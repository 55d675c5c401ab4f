import type { App } from "../app.js";
import type { RunState } from "../core/run/state.js";
import type { EpicFacts } from "../views/explain-epic.js";
import { isInScope } from "../views/scope.js";

/** Vain verifications are counted in so many of the project's last runs. */
const runsMost = 50;

interface Named {
  readonly projectId: string;
  readonly epic: string;
  readonly ancestors: readonly string[];
}

/** What the runs say of an epic: their machines know who verifies it and how often that was in vain. */
export async function epicFacts(app: App, { projectId, epic, ancestors }: Named): Promise<EpicFacts> {
  const store = await app.store();
  const unfinished = await store.unfinishedRuns(projectId);
  const states = await Promise.all(
    unfinished.map(async (one) => ({ ...one, state: await app.runState(one.run.runId) })),
  );
  const verifiers = states.flatMap(({ run, driverAlive, state }) => {
    const { running = null, queue = [] } = state?.triggers ?? {};
    const isAtIt = running?.epic?.id === epic;
    if (!isAtIt && !queue.some((one) => one.epic?.id === epic)) return [];
    return [{ runId: run.runId, driverAlive, isAtIt }];
  });
  const looker = states.find(({ run, driverAlive, state }) => {
    const { scope, only, workflow } = run.options;
    const looks = (scope.type === "all" || scope.type === "epic") && only === undefined && workflow === undefined;
    const isEnding = state !== null && (state.draining || state.stopping || state.aborting);
    return driverAlive && looks && !isEnding && isInScope(scope, epic, ancestors) && timesOf(state, epic) === 0;
  });
  const known = await store.runs(projectId, runsMost);
  const times = await Promise.all(known.map(async ({ runId }) => timesOf(await app.runState(runId), epic)));
  const findings = await store.findings({ projectId, issueId: epic, all: true });
  return {
    verifier: verifiers.find(({ driverAlive }) => driverAlive) ?? verifiers[0] ?? null,
    inVain: times.reduce((sum, one) => sum + one, 0),
    openFindings: findings.filter(({ status }) => status === "open").length,
    waived: findings.filter(({ status, let_go }) => status === "waived" && !let_go).length,
    looker: looker?.run.runId ?? null,
  };
}

function timesOf(state: RunState | null, epic: string): number {
  return state?.triggers?.verified?.[epic] ?? 0;
}
