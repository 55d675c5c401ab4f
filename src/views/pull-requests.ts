import { refusalOf } from "../core/pull-request/merge.js";
import type { PrIdentity, PrState } from "../core/pull-request/state.js";

/** Where a pull request stands, in one word. null: it has not been looked at yet. */
export function phaseOf(state: PrState | null): string {
  if (state === null) return "new";
  if (state.phase !== "following") return state.phase;
  if (state.escalated) return "escalated";
  return state.working === null ? "in review" : "rework";
}

/** What has been said or found and is not answered yet. */
export function openPartsOf(state: PrState | null): string[] {
  return Object.entries(state?.deliveries ?? {}).flatMap(([id, { status }]) =>
    status === "waiting" || status === "delivered" ? [id] : [],
  );
}

/** What the forge has against merging it; null: nothing, or nobody has tried. */
export function notMerged(state: PrState | null): string | null {
  return state === null ? null : (refusalOf(state)?.reason ?? null);
}

/** As `pr list --json` prints it and the server answers. */
export function toPullRequestJson({ pr, state }: { readonly pr: PrIdentity; readonly state: PrState | null }) {
  return {
    number: pr.number,
    url: pr.url,
    repo: pr.repo,
    branch: pr.branch,
    base_branch: pr.baseBranch,
    issue_id: pr.issueId,
    phase: phaseOf(state),
    cycle: state?.cycle ?? 0,
    head: state?.head ?? null,
    open: openPartsOf(state),
    escalated: state?.escalated ?? false,
    not_merged: notMerged(state),
  };
}
