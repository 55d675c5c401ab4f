import type { GcAction, GcPlan } from "../core/gc.js";

/** A line for everything that goes and for every old run that stays. */
export function gcLines({ actions, kept }: GcPlan, isDryRun: boolean): string[] {
  const verb = isDryRun ? "would remove" : "removed";
  const lines = actions.map((action) => actionLine(action, verb, isDryRun));
  const stay = kept.map(({ runId, why }) => `kept run ${runId}: ${why}`);
  const all = [...lines, ...stay];
  return all.length === 0 ? ["Nothing to clear away."] : all;
}

function actionLine(action: GcAction, verb: string, isDryRun: boolean): string {
  switch (action.kind) {
    case "run":
      return `${verb} run ${action.runId}: ${action.path}`;
    case "folder":
      return `${verb} ${action.path}, which belongs to no run`;
    case "landing":
      return `${verb} landing worktree ${action.path}`;
    case "slot":
      return `${verb} slot number of ${action.worktree}`;
    case "pool":
      return `${verb} ${action.folders} kept folder${action.folders === 1 ? "" : "s"} of removed worktrees`;
    case "mirror":
      return `${isDryRun ? "would pack" : "packed"} ${action.path}${action.prune ? "" : " (nothing pruned: worktrees use it)"}`;
  }
}
