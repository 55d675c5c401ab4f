import type { Priority } from "../core/finding.js";
import type { PublicEvent } from "../core/report.js";

/** A run as it is now, folded from its events: what the live table and the summary are drawn from. */
export interface Live {
  readonly runId: string | null;
  readonly target: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly status: string;
  /** In the order they started. */
  readonly issues: readonly LiveIssue[];
}
export interface LiveIssue {
  readonly id: string;
  readonly title: string;
  /** A state name: implementing, gating, session-ending, reviewing, finalizing; in the end succeeded, failed, … */
  readonly phase: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Priority of every open finding, by id. */
  readonly open: Readonly<Record<string, Priority>>;
  readonly costUsd: number | null;
  readonly waitingFor: string | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

export const emptyLive: Live = {
  ...{ runId: null, target: null, startedAt: null, finishedAt: null, status: "running" },
  issues: [],
};

export function foldLive(model: Live, event: PublicEvent): Live {
  const at = Date.parse(event.time);
  if (event.type === "run-started") {
    return { ...model, runId: event.run_id, target: event.target_branch, startedAt: at, finishedAt: null };
  }
  if (event.type === "run-finished") return { ...model, status: event.status, finishedAt: at };
  if (event.issue_id === undefined) return model;
  if (event.type === "issue-started") return withIssue(model, newIssue(model, event.issue_id, event.title, at));
  const issue = model.issues.find((one) => one.id === event.issue_id);
  return issue ? withIssue(model, foldIssue(issue, event, at)) : model;
}

/** Another life of an issue takes the same row; its findings are still there. */
function newIssue(model: Live, id: string, title: string, at: number): LiveIssue {
  const open = model.issues.find((one) => one.id === id)?.open ?? {};
  const fresh = { attempt: 0, maxAttempts: 0, costUsd: null, waitingFor: null, finishedAt: null };
  return { id, title, phase: "preparing", open, startedAt: at, ...fresh };
}

function withIssue(model: Live, issue: LiveIssue): Live {
  const isKnown = model.issues.some((one) => one.id === issue.id);
  const issues = isKnown ? model.issues.map((one) => (one.id === issue.id ? issue : one)) : [...model.issues, issue];
  return { ...model, issues };
}

function foldIssue(issue: LiveIssue, event: PublicEvent, at: number): LiveIssue {
  const next = foldPhase(event.type === "waiting" ? issue : { ...issue, waitingFor: null }, event);
  switch (event.type) {
    case "waiting":
      return { ...next, waitingFor: event.for };
    case "turn-ended":
      return { ...next, costUsd: addCost(next.costUsd, event.usage?.cost_usd ?? null) };
    case "finding-raised":
      return { ...next, open: { ...next.open, [event.finding]: event.priority } };
    case "finding-resolved": {
      const { [event.finding]: _closed, ...open } = next.open;
      return { ...next, open };
    }
    case "issue-finished":
      return { ...next, phase: event.status === "success" ? "succeeded" : event.status, finishedAt: at };
    default:
      return next;
  }
}

function foldPhase(issue: LiveIssue, event: PublicEvent): LiveIssue {
  switch (event.type) {
    case "prompt-sent": {
      const phase = event.role === "implementer" ? "implementing" : issue.phase;
      return { ...issue, phase, attempt: event.attempt, maxAttempts: event.max_attempts };
    }
    case "gate-started":
      return { ...issue, phase: "gating", attempt: event.attempt, maxAttempts: event.max_attempts };
    case "session-end-started":
      return { ...issue, phase: "session-ending" };
    case "review-started": {
      const phase = event.stage === "session_end" ? "session-ending" : "reviewing";
      const maxAttempts = issue.phase === phase ? issue.maxAttempts : 0;
      return { ...issue, phase, attempt: event.attempt, maxAttempts };
    }
    case "landed":
      return { ...issue, phase: "finalizing" };
    default:
      return issue;
  }
}

function addCost(sum: number | null, cost: number | null): number | null {
  return cost === null ? sum : (sum ?? 0) + cost;
}
