import type { Graph } from "../graph.js";

/** What a workflow is decided by and does not own. */
export interface WorkflowPolicy {
  /** Checked: no errors. */
  readonly graph: Graph;
  readonly runId: string;
  /** This machine's own id: children and findings are named after it. */
  readonly machine: string;
  /** The issue that it implements: its reports carry the id. null: a workflow of its own, whose findings carry the run's. */
  readonly issueId: string | null;
  /** The stages that called it, outermost first; its reports carry them. Absent: none did. */
  readonly calls?: readonly string[];
  readonly settings: {
    readonly convergence: { readonly same_failure: number; readonly rounds_without_fewer_findings: number };
    /** agent.backoff_seconds: before a turn that could not reach its model is tried again. */
    readonly backoff_seconds: readonly number[];
  };
  /** The prompt's file in the attempt folder of this name. */
  readonly promptPath: (folder: string) => string;
}
