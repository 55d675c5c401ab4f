import type { IssueRecord } from "../core/record.js";

/** For whoever is told that a mirror, or the git folder of a worktree, is gone or damaged. */
export const mirrorAdvice =
  "the next command that needs it puts it right, `ratchet run --resume` goes on with the files";

interface Recorded {
  readonly issueId: string;
  readonly record: Pick<IssueRecord, "status" | "worktree_path">;
}

/** What had a worktree below `root` and was not brought to its end, by the newest record of each issue, which comes first. */
export function begunWork(records: readonly Recorded[], root: string): string[] {
  const newest = new Map([...records].reverse().map(({ issueId, record }) => [issueId, record]));
  const isBegun = ({ status, worktree_path }: Recorded["record"]) =>
    status !== "success" && worktree_path?.startsWith(`${root}/`) === true;
  return [...newest].flatMap(([issueId, record]) => (isBegun(record) ? [issueId] : []));
}

/** Neither the mirror nor any worktree is there. */
export function tellLost(
  path: string,
  issues: readonly string[],
): { readonly detail: string; readonly advice: string } {
  const more = issues.length > 5 ? ` and ${issues.length - 5} more` : "";
  return {
    detail: `${path} is gone, and so are the worktrees: the work on ${issues.slice(0, 5).join(", ")}${more} was there`,
    advice: "put back a copy of both, if you have one; else the next run makes a new mirror and begins these anew",
  };
}
