import type { IssueRecord } from "../core/record.js";
import { plural, shortSha } from "./format.js";
import { shellWord } from "./shell-word.js";

/** The target has moved on since an issue failed, and what it has by now is not in its work. */
export interface LackingFacts {
  readonly target: string;
  readonly tip: string;
  readonly commits: number;
  readonly worktree: string;
}

const judged = ["gate_failed", "setup_failed", "review_failed", "review_unavailable", "no_progress"];

/** What failed it may have been mended on the target since. */
export function mayBeMended({ status, error }: Pick<IssueRecord, "error"> & { readonly status: string }): boolean {
  return (status === "failed" || status === "quarantined") && error !== null && judged.includes(error);
}

export function lackingLine(issueId: string, { target, tip, commits, worktree }: LackingFacts): string {
  const merge = `git -C ${shellWord(worktree)} merge ${shortSha(tip)}`;
  const anew = `ratchet retry ${shellWord(issueId)} --afresh`;
  const what = `${target} has ${plural(commits, "commit")} that this work has not`;
  return `${what}: merge it with \`${merge}\`, or begin anew from there with \`${anew}\``;
}
