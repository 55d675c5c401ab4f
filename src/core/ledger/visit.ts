import type { FindingSource, Remark } from "../finding.js";
import type { FindingThreshold } from "../settings.js";

/** One failing execution of a stage, and what it reports. */
export interface Visit {
  readonly stage: string;
  readonly source: FindingSource;
  /** Who, where a remark does not say itself. */
  readonly reviewer: string;
  readonly outcome: "fail" | "partial_success";
  /** 1-based true count of the stage's visits. */
  readonly visit: number;
  readonly at: number;
  readonly commit: string | null;
  readonly runId: string;
  readonly remarks: readonly Remark[];
  /** Of a review: who the reviewer is, whatever a remark calls it. */
  readonly author?: string;
  /** Of a review: from which priority on a remark blocks. */
  readonly threshold?: FindingThreshold;
}
