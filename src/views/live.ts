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
  /** The trigger of the run itself that goes on now. */
  readonly trigger: LiveIssue | null;
  /** What the run's triggers have cost so far. */
  readonly triggerCostUsd: number | null;
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
  ...{ trigger: null, triggerCostUsd: null },
};

export function foldLive(model: Live, event: PublicEvent): Live {
  const at = Date.parse(event.time);
  if (event.type === "run-started") {
    const { run_id: runId, target_branch: target } = event;
    return { ...model, status: "running", runId, target, startedAt: at, finishedAt: null };
  }
  if (event.type === "run-finished") return { ...model, status: event.status, finishedAt: at };
  if (event.issue_id === undefined) return foldTrigger(model, event, at);
  if (event.type === "issue-started") return withIssue(model, newIssue(model, event.issue_id, event.title, at));
  const issue = model.issues.find((one) => one.id === event.issue_id);
  return issue ? withIssue(model, foldIssue(issue, event, at)) : model;
}

/** Another life of an issue takes the same row; its findings are still there, and what it has cost. */
function newIssue(model: Live, id: string, title: string, at: number): LiveIssue {
  const { open = {}, costUsd = null } = model.issues.find((one) => one.id === id) ?? {};
  return { ...newRow(id, title, at), open, costUsd };
}

function newRow(id: string, title: string, at: number): LiveIssue {
  const fresh = { ...noTry, costUsd: null, waitingFor: null, finishedAt: null };
  return { id, title, phase: "preparing", open: {}, startedAt: at, ...fresh };
}

/** Named as its attempts' folder is. */
function titleOf({ trigger, about }: { readonly trigger: string; readonly about: string }): string {
  return `${trigger}: ${about}`;
}

function triggerRow(title: string, at: number): LiveIssue {
  return { ...newRow("_run", title, at), phase: "session-ending" };
}

function foldTrigger(model: Live, event: PublicEvent, at: number): Live {
  switch (event.type) {
    case "run-end-started":
      return { ...model, trigger: triggerRow("run_end", at) };
    case "trigger-started":
      return { ...model, trigger: triggerRow(titleOf(event), at) };
    case "run-end-completed":
      return { ...model, trigger: null };
    case "trigger-completed":
      // One that never started is told beside the one that runs.
      return model.trigger?.title === titleOf(event) ? { ...model, trigger: null } : model;
    default: {
      const cost = event.type === "turn-ended" ? (event.usage?.cost_usd ?? null) : null;
      const triggerCostUsd = addCost(model.triggerCostUsd, cost);
      return { ...model, triggerCostUsd, trigger: model.trigger && foldIssue(model.trigger, event, at) };
    }
  }
}

function withIssue(model: Live, issue: LiveIssue): Live {
  const isKnown = model.issues.some((one) => one.id === issue.id);
  const issues = isKnown ? model.issues.map((one) => (one.id === issue.id ? issue : one)) : [...model.issues, issue];
  return { ...model, issues };
}

function foldIssue(issue: LiveIssue, event: PublicEvent, at: number): LiveIssue {
  const next = foldPhase(
    event.type === "waiting" || event.type === "question" ? issue : { ...issue, waitingFor: null },
    event,
  );
  switch (event.type) {
    case "waiting":
      return { ...next, waitingFor: event.for };
    case "turn-ended":
      return { ...next, costUsd: addCost(next.costUsd, event.usage?.cost_usd ?? null) };
    case "finding-raised":
      return event.copied ? next : { ...next, open: { ...next.open, [event.finding]: event.priority } };
    case "finding-resolved": {
      const { [event.finding]: _closed, ...open } = next.open;
      return { ...next, open };
    }
    case "issue-finished":
      return { ...next, ...noTry, phase: event.status === "success" ? "succeeded" : event.status, finishedAt: at };
    default:
      return next;
  }
}

/** Nothing is tried that could be tried again. */
const noTry = { attempt: 0, maxAttempts: 0 };

function foldPhase(issue: LiveIssue, event: PublicEvent): LiveIssue {
  switch (event.type) {
    case "prompt-sent": {
      const phase = event.role === "implementer" ? "implementing" : issue.phase;
      return { ...issue, phase, attempt: event.attempt, maxAttempts: event.max_attempts };
    }
    case "gate-started":
      return { ...issue, phase: "gating", attempt: event.attempt, maxAttempts: event.max_attempts };
    case "session-end-started":
      return { ...issue, ...noTry, phase: "session-ending" };
    case "review-started": {
      const phase = event.stage === "session_end" ? "session-ending" : "reviewing";
      const maxAttempts = issue.phase === phase ? issue.maxAttempts : 0;
      return { ...issue, phase, attempt: event.attempt, maxAttempts };
    }
    case "landed":
      return { ...issue, ...noTry, phase: "finalizing" };
    default:
      return issue;
  }
}

function addCost(sum: number | null, cost: number | null): number | null {
  return cost === null ? sum : (sum ?? 0) + cost;
}
