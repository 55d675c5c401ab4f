import { reworkItemId } from "../../src/core/board/item-ids.js";
import type { ReworkPayload } from "../../src/core/board/payload.js";
import type { NamedWorkItem } from "../../src/core/ports/work-items.js";
import { newItem } from "./new-item.js";

export function pullRequestFields(projectId: string, prNumber = 42) {
  return {
    pr_number: prNumber,
    pr_url: `https://forge.example/o/r/pull/${prNumber}`,
    repo: "o/r",
    branch: "i",
    base_branch: "main",
    project_id: projectId,
    implementation_work_item_id: "i",
    worktree_path: "/w/i",
    human_review_required: false,
  } as const;
}

export function reworkItem(projectId: string, cycle = 1, more: Partial<ReworkPayload> = {}): NamedWorkItem {
  const fields = pullRequestFields(projectId);
  const id = reworkItemId({ projectId, prNumber: fields.pr_number }, cycle);
  const payload: ReworkPayload = {
    source: "rework",
    ...fields,
    review_feedback: "Check the limits.",
    rework_cycle: cycle,
    inline_comments: [],
    ...more,
  };
  return { ...newItem(projectId, { priority: 1 }), id, source: "rework", payload };
}
