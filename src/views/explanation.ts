import type { ItemStatus } from "../core/ports/tracker.js";

/** `explain --json`. */
export interface Explanation {
  readonly issue_id: string;
  /** As on the board. */
  readonly state: ItemStatus;
  readonly running: boolean;
  readonly reason: string;
  /** Issues that must be completed first. */
  readonly blockers: readonly string[];
  /** What else has happened since; absent: nothing. */
  readonly meanwhile?: string;
  /** What to run; null: nothing is to be done. */
  readonly next: string | null;
}

/** The one reason, before it is said of which issue; not running and without blockers unless said. */
export type Cause = Pick<Explanation, "reason" | "next"> & Partial<Pick<Explanation, "running" | "blockers">>;
