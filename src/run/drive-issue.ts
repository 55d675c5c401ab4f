import type { IssueLife } from "../core/issue/state.js";
import { newIssue } from "../core/issue/state.js";
import type { IssueStart } from "../core/run/effects.js";
import { issueMachineId, issueNames, type RunContext } from "./context.js";
import { driveLife } from "./drive-life.js";

/** Drives one life of an issue to its end, from wherever its journal stands. */
export async function driveIssue(run: RunContext, start: IssueStart, stop: AbortSignal): Promise<IssueLife> {
  const { issueId, title, life, item } = start;
  const whose = {
    machine: issueMachineId(run.runId, issueId, life),
    issueId,
    title,
    // An item of a pull request works where its issue did.
    names: item ? { ...issueNames(item.issueId), attempts: issueId } : issueNames(issueId),
    ...(item ? { item } : {}),
    ledger: await run.history.ledger(issueId),
    initial: newIssue(start),
  };
  return await driveLife(run, whose, stop);
}
