/** A text that may be large: inline up to 4 kB, else a head of it and where the whole is. */
export interface Text {
  readonly text: string;
  readonly ref?: TextRef;
}
export interface TextRef {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}
export const inlineTextBytes = 4096;

export type FindingSource = "review" | "gate" | "command" | "pr-comment" | "ci" | "merge" | "protocol";
export type FindingStatus = "open" | "resolved" | "superseded" | "waived";

/** null: the reporter gave none, which never blocks. */
export type Priority = number | null;

/** As reviewers and records of others give it: 0 to 3, as a text too, "P1" or "1"; null: nothing of that. */
export function readPriority(value: unknown): Priority {
  const level = typeof value === "string" ? /^\s*[Pp]?([0-3])\s*$/.exec(value)?.[1] : value;
  if (typeof level === "string") return Number(level);
  return level === 0 || level === 1 || level === 2 || level === 3 ? level : null;
}

/** What a check reports, before the ledger knows it. */
export interface Remark {
  readonly file: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly priority: Priority;
  readonly title: string;
  readonly body: Text;
  /** The reporter's own word for who found it; else the caller's name for the reviewer is used. */
  readonly reviewer?: string;
  /** The reporter says what it knows now that it did not know when the finding was settled. */
  readonly newEvidence?: true;
}

/** One entry of an issue's ledger. Field names are those of `findings --json`. */
export interface Finding {
  readonly id: string;
  readonly issue_id: string;
  readonly source: FindingSource;
  readonly stage: string;
  readonly reviewer: string;
  readonly reviewers: readonly string[];
  readonly outcome: "fail" | "partial_success";
  readonly file: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly priority: Priority;
  readonly title: string;
  readonly body: Text;
  readonly visit: number;
  readonly status: FindingStatus;
  /** Why it was waived or superseded. */
  readonly reason: string | null;
  readonly raised_at: number;
  readonly resolved_at: number | null;
  readonly commit: string | null;
  readonly run_id: string;
  /** The stages that still report it; it closes when the last of them passes. Absent: `stage` alone while open. */
  readonly stages?: readonly StageReport[];
  /** Earlier visits that raised it, oldest first; the fields above are those of the newest. */
  readonly earlier?: readonly EarlierVisit[];
  /** Of a review: whoever has ever reported it, by where they review, not by what they call themselves; see `authorOf`. */
  readonly authors?: readonly string[];
  /** Of a review: whose words its text is, out of `authors`. */
  readonly author?: string;
  /** Other titles that its reporters gave it. */
  readonly also?: readonly string[];
  /** What others that report it, or have, say of it, each in its newest words. */
  readonly also_reported?: readonly OtherReport[];
  /** How often it came back after it had been closed. */
  readonly reopened?: number;
  /** The commit on which the last of its stages passed. */
  readonly resolved_commit?: string | null;
  /** Why the implementer thinks it is wrong. While it is open the reviewer decides; null: it has insisted; closed, the objection was accepted. */
  readonly rejected?: string | null;
  /** That was said before, and its reviewer has insisted: saying it again is nothing new. */
  readonly repeated?: true;
  /** Waived by Ratchet itself, because it did not hold up the work: where it would, it counts. */
  readonly let_go?: true;
  /** Of a workflow's stage: where its visit is in the order of execution, outer positions first. */
  readonly order?: readonly number[];
  /** Of what a called workflow found, on its caller's ledger: the id under which it was told when it was raised. */
  readonly raised_as?: string;
}
export interface StageReport {
  readonly stage: string;
  readonly reviewer: string;
  readonly priority: Priority;
}
/** A finding as another than its first reporter tells it. */
export type OtherReport = Pick<
  Finding,
  "stage" | "reviewer" | "author" | "visit" | "file" | "line_start" | "line_end" | "priority" | "title" | "body"
>;
export interface EarlierVisit {
  readonly stage: string;
  readonly visit: number;
  readonly outcome: "fail" | "partial_success";
  readonly raised_at: number;
}

/** Every finding of one issue, in the order first raised. Immutable: each operation returns a new one. */
export interface Ledger {
  readonly issueId: string;
  readonly findings: readonly Finding[];
}

/** What the implementer says against a finding. */
export interface Rejection {
  /** The finding's id, or a beginning of it that no other one has. */
  readonly id: string;
  readonly reason: string;
}
