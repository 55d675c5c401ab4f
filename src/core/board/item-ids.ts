/** Ids of the items that a pull request makes: asking for the same one again finds it by its id. */
interface OfPullRequest {
  readonly projectId: string;
  readonly prNumber: number;
}

/** Cycle 0 is the first review. `reopened`: the pull request was closed before and opened again, so often. */
export function reviewItemId({ projectId, prNumber }: OfPullRequest, cycle: number, reopened = 0): string {
  const again = reopened === 0 ? "" : `-reopened-${reopened}`;
  return `review-${projectId}-pr-${prNumber}${cycle === 0 ? "" : `-cycle-${cycle}`}${again}`;
}

export function reworkItemId({ projectId, prNumber }: OfPullRequest, cycle: number): string {
  return `rework-${projectId}-pr-${prNumber}-cycle-${cycle}`;
}

export function mergeItemId({ projectId, prNumber }: OfPullRequest): string {
  return `merge-${projectId}-pr-${prNumber}`;
}

export function mergeFixItemId({ projectId, prNumber }: OfPullRequest, cycle: number): string {
  return `merge-fix-${projectId}-pr-${prNumber}-cycle-${cycle}`;
}
