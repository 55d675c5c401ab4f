import type { LifeContext, RunContext } from "../context.js";

export type TakenAway = "completed" | "blocked" | "deleted" | "taken away";

/**
 * What somebody else has done with the issue while it was worked on; null: it is the run's. A claim that is merely gone is
 * taken again.
 */
export async function takenAway({ run, issueId }: Pick<LifeContext, "run" | "issueId">): Promise<TakenAway | null> {
  if (await isOurs(run, issueId)) return null;
  const issue = await run.tracker.get(issueId);
  if (issue === null) return "deleted";
  return issue.status === "completed" || issue.status === "blocked" ? issue.status : "taken away";
}

async function isOurs({ tracker, board, projectId, runId }: RunContext, issueId: string): Promise<boolean> {
  // Our own board writes down every claim, again ones too.
  const item = tracker.kind === "local" ? await board.get(projectId, issueId) : null;
  return (item?.status === "claimed" && item.claimedBy === runId) || (await tracker.claim(issueId, runId));
}
