import type { WorkItem } from "../../core/ports/work-items.js";
import type { IssueRecord } from "../../core/record.js";
import type { IssueStart } from "../../core/run/effects.js";
import { mayLiveAgain } from "../../core/run/live-again.js";
import type { RunContext } from "../context.js";
import { isHeldBack, secondLife } from "./live-again.js";

/** The best item of a pull request that may be worked on now; they come before new issues. */
export async function bestItem(run: RunContext, not: readonly string[]): Promise<IssueStart | null> {
  const { board, projectId, options, clock, forge, history } = run;
  if (forge === null || (options.only && options.only !== "push")) return null;
  const sources = ["rework", "merge_fix", "code_review"];
  const query = { projectId, scope: { type: "all" }, resume: options.resume, now: clock.now(), sources } as const;
  const ready = await board.ready({ ...query, limit: 50 });
  for (const item of ready) {
    if (not.includes(item.id) || !isInScope(run, item) || (await isHeldBack(run, item))) continue;
    const last = await history.record(item.id);
    const isRetried = () => board.isRetried(projectId, item.id);
    if (!(await mayLiveAgain({ ...item, changedAt: item.updatedAt }, last, isRetried))) continue;
    const start = await startOf(run, item, last);
    if (start?.deliver || options.only !== "push") return start;
  }
  return null;
}

function isInScope({ options: { scope } }: RunContext, { id, payload }: WorkItem): boolean {
  if (scope.type !== "ids") return scope.type === "all";
  return scope.ids.includes(id) || scope.ids.includes(payload?.implementation_work_item_id ?? "");
}

async function startOf(
  run: RunContext,
  { id, title, payload }: WorkItem,
  last: IssueRecord | null,
): Promise<IssueStart | null> {
  const source = payload?.source;
  if (source !== "rework" && source !== "merge_fix" && source !== "code_review") return null;
  const issueId = payload?.implementation_work_item_id ?? "";
  const session = source === "code_review" ? null : ((await run.history.earlier(issueId)).resume?.sessionId ?? null);
  const cycle = payload?.rework_cycle ?? 0;
  const item = { source, issueId, prNumber: payload?.pr_number ?? 0, cycle, session };
  const again = await secondLife(run, id, last);
  const { nextLife: life, resume } = await run.history.earlier(id);
  const owed = resume?.deliver && source !== "code_review" ? { deliver: resume.deliver } : {};
  return { issueId: id, title, life, resume: null, item, ...again, ...owed };
}
