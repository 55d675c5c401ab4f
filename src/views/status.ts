import type { Priority } from "../core/finding.js";
import { plainLine } from "../core/plain-text.js";
import type { IssueStatus } from "../core/record.js";
import type { RunStatus } from "../core/report.js";
import { type Room, renderColumns } from "./columns.js";
import {
  countFindings,
  elapsedSeconds,
  type FindingCounts,
  formatAttempt,
  formatCost,
  formatCounts,
  formatSeconds,
} from "./format.js";
import { issueColumns } from "./issue-columns.js";
import { resumeWorkflow } from "./question-lines.js";

/** A run and its issues as the store knows them. Times in ms since the epoch. */
export interface RunSituation {
  readonly runId: string;
  readonly projectId: string;
  readonly status: RunStatus;
  readonly draining: boolean;
  readonly stopping?: boolean;
  readonly aborting?: boolean;
  /** A living process works on it. */
  readonly driven: boolean;
  /** The run is this workflow's: its file. */
  readonly workflowFile?: string;
  readonly issues: readonly IssueSituation[];
}
export interface IssueSituation {
  readonly issueId: string;
  /** The row is the run's own: this trigger goes on. */
  readonly trigger?: string;
  /** The machine's own word for where it is. */
  readonly phase: string;
  readonly status: IssueStatus;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly openFindings: readonly Priority[];
  readonly sessionId: string | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly costUsd: number | null;
  readonly waitingFor: string | null;
}

/** `status --json`. */
export interface StatusJson {
  readonly runs: readonly StatusRun[];
}
interface StatusRun {
  readonly run_id: string;
  readonly project_id: string;
  readonly status: RunStatus;
  /** Also while it stops. */
  readonly draining: boolean;
  readonly stopping: boolean;
  readonly aborting: boolean;
  readonly driven: boolean;
  /** Of a run that is a workflow: its file. */
  readonly workflow_file?: string;
  readonly issues: readonly StatusIssue[];
}
interface StatusIssue {
  /** `_run`: a trigger of the run itself, as its attempts' folder is called. */
  readonly issue_id: string;
  readonly trigger?: string;
  readonly phase: string;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly open_findings: FindingCounts;
  readonly session_id: string | null;
  readonly elapsed_seconds: number;
  readonly cost_usd: number | null;
  readonly waiting_for: string | null;
}

export function toStatus(runs: readonly RunSituation[], now: number): StatusJson {
  return {
    runs: runs.map((run) => ({
      run_id: run.runId,
      project_id: run.projectId,
      status: run.status,
      draining: run.draining,
      stopping: run.stopping ?? false,
      aborting: run.aborting ?? false,
      driven: run.driven,
      ...(run.workflowFile === undefined ? {} : { workflow_file: run.workflowFile }),
      issues: run.issues.map((issue) => toStatusIssue(issue, now)),
    })),
  };
}

function toStatusIssue(issue: IssueSituation, now: number): StatusIssue {
  return {
    issue_id: issue.issueId,
    ...(issue.trigger === undefined ? {} : { trigger: issue.trigger }),
    phase: phaseName(issue),
    attempt: issue.attempt,
    max_attempts: issue.maxAttempts,
    open_findings: countFindings(issue.openFindings),
    session_id: issue.sessionId,
    elapsed_seconds: elapsedSeconds(issue.startedAt, issue.finishedAt ?? now),
    cost_usd: issue.costUsd,
    waiting_for: issue.waitingFor,
  };
}

/** The states users know; telling the tracker and tidying up belong to the end. */
function phaseName({ phase, status }: IssueSituation): string {
  if (status === "success") return "succeeded";
  if (status !== "running") return status;
  return phase === "closing" || phase === "done" ? "finalizing" : phase;
}

/** `named`: the reader is in none of these projects. */
export function renderStatus(status: StatusJson, room: Room, { named = false } = {}): string[] {
  if (status.runs.length === 0) return ["Nothing is running. Start with `ratchet run`."];
  return status.runs.flatMap((run, index) => {
    const head = `run ${run.run_id}${named ? ` of ${run.project_id}` : ""}: ${howItGoes(run)}`;
    const rows = run.issues.map((issue) => [
      plainLine(issue.trigger === undefined ? issue.issue_id : `${issue.issue_id}: ${issue.trigger}`),
      issue.phase,
      formatAttempt(issue.attempt, issue.max_attempts),
      formatCounts(issue.open_findings),
      formatCost(issue.cost_usd),
      formatSeconds(issue.elapsed_seconds),
      issue.waiting_for === null ? "" : plainLine(issue.waiting_for),
    ]);
    const isWaiting = run.issues.some((issue) => issue.waiting_for !== null);
    const shown = isWaiting ? [...issueColumns, { title: "WAITING", least: 8, drop: 2 }] : issueColumns;
    const table = rows.length === 0 ? ["no issue has started"] : renderColumns(shown, rows, room);
    return [...(index > 0 ? [""] : []), head, ...table];
  });
}

export function howItGoes(run: Omit<StatusRun, "project_id" | "issues">): string {
  const { status, draining, stopping, aborting, driven } = run;
  const ending = stopping ? "stopping" : aborting ? "aborting" : draining ? "draining" : null;
  if (!driven) {
    const next = `\`${resumeCommand(run)}\``;
    return `nobody drives it; ${ending === null ? `${next} goes on with it` : `it will be ${ending} when ${next} takes it up`}`;
  }
  return ending === null ? status : `${ending}${howItEnds[ending]}`;
}

const howItEnds = {
  stopping: " at the next safe point",
  aborting: ": what runs ends at its next safe point, nothing new starts",
  draining: ", press again to stop",
} as const;

/** A workflow is taken up by its own command alone. */
function resumeCommand({ run_id: id, workflow_file: file }: Pick<StatusRun, "run_id" | "workflow_file">): string {
  return file === undefined ? "ratchet run" : resumeWorkflow(file, id);
}
