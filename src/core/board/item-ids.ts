/** Ids of the items that a pull request makes: asking for the same one again finds it by its id. */
interface OfPullRequest {
  readonly projectId: string;
  readonly prNumber: number;
}

/**
 * Cycle 0 is the first review. `reopened`: the pull request was closed before and opened again, so often. `again`: one
 * more review without a rework before it, the so-manieth of the pull request.
 */
export function reviewItemId(
  { projectId, prNumber }: OfPullRequest,
  cycle: number,
  { reopened = 0, again = 0 }: { readonly reopened?: number; readonly again?: number } = {},
): string {
  const why = `${reopened === 0 ? "" : `-reopened-${reopened}`}${again === 0 ? "" : `-again-${again}`}`;
  return `review-${projectId}-pr-${prNumber}${cycle === 0 ? "" : `-cycle-${cycle}`}${why}`;
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
