import type { Finding } from "../core/finding.js";
import { triggerResult } from "../core/issue/session-end-result.js";
import { type IssueState, newIssue } from "../core/issue/state.js";
import { isUnlanded, parked, reviewedUpTo } from "../core/issue/unlanded.js";
import type { RunEvent, TriggerStart } from "../core/run/effects.js";
import { markReviewed } from "../git/worktree/reviewed.js";
import { type RunContext, runNames, triggerMachineId } from "./context.js";
import { driveLife, type Life, policyOf } from "./drive-life.js";

type TriggerEnded = Extract<RunEvent, { readonly type: "trigger-ended" }>;

/** Leads the life of a trigger of the run to its end. Its findings are kept under the run's id, or under the epic's. */
export async function driveTrigger(run: RunContext, start: TriggerStart, stop: AbortSignal) {
  const { name, number, folders, budget, epic } = start;
  const fresh = newIssue({ issueId: "", title: name, life: number, resume: null });
  const life: Life = {
    machine: triggerMachineId(run.runId, name, number),
    issueId: "",
    title: epic === undefined ? `${name} of run ${run.runId}` : ((await run.tracker.get(epic))?.title ?? epic),
    names: epic === undefined ? runNames(run.runId) : { ...runNames(run.runId), item: epic },
    ledger: await run.history.ledger(epic ?? run.runId),
    initial: { ...fresh, folders, ...(budget === undefined ? {} : { runBudget: budget }) },
    trigger: start,
  };
  const { state, ledger } = await driveLife(run, life, stop);
  stop.throwIfAborted();
  const result = triggerResult(policyOf({ run, names: life.names, trigger: start }), state);
  if (epic === undefined) await rememberReview(run, name, state);
  const isFound = ({ status, reason }: Finding) => status !== "waived" && reason !== parked;
  const found = epic === undefined ? ledger.findings.filter(isFound) : [];
  const results = isUnlanded(state) ? [] : result.commands;
  await run.history.settleOlder(name, { results, found: found.map(({ id }) => id) });
  const { trackerOwed } = state;
  const { behind } = state.landing;
  const left = { trackerOwed, folders: state.folders, ...(behind ? { behind } : {}) };
  return { type: "trigger-ended", ...result, ...left } satisfies Omit<TriggerEnded, "key">;
}

async function rememberReview(run: RunContext, name: TriggerStart["name"], state: IssueState): Promise<void> {
  if (name === "epic_verification") return;
  const { enabled = false, baseline = null } = run.settings.validation_triggers[name]?.code_review ?? {};
  if (!enabled) return;
  const commit = reviewedUpTo(state, baseline);
  if (commit !== null) await markReviewed(run.mirror, { trigger: name, target: run.target, commit });
}
