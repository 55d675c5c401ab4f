import { plainLine } from "../core/plain-text.js";
import type { PublicEvent } from "../core/report.js";
import { endingsIn, formatEndings, formatPlace, formatPriority, plural, shortSha } from "./format.js";
import { questionLines } from "./question-lines.js";
import { shellWord } from "./shell-word.js";

/** An event as one line of run.log and of a pipe. Null: nothing to say (an event of a newer version). */
export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly text: string;
}

/** Lines that scripts look for: never prefixed. */
const fixedLogLine = /^(\[trigger\] |Using review_followup for resume: )/;

export function logLine(event: PublicEvent): LogLine | null {
  if ("copied" in event && event.copied) return null;
  const line = triggerLine(event) ?? runLine(event) ?? stageLine(event) ?? issueLine(event);
  return line === null ? null : { level: line.level, text: plainLine(line.text) };
}

/** The same where one line is not enough: what a person has to read before they answer. */
export function logLines(event: PublicEvent): LogLine[] {
  if (event.type === "question") {
    const lines = questionLines(event);
    return lines.map((text) => info(event.issue_id === undefined ? text : `${event.issue_id}: ${text}`));
  }
  const line = logLine(event);
  return line === null ? [] : [line];
}

function info(text: string): LogLine {
  return { level: "info", text };
}

/** Exactly these texts: they are part of the contract. */
function triggerLine(event: PublicEvent): LogLine | null {
  switch (event.type) {
    case "session-end-started":
      return info(`[trigger] session_end started: issue_id=${event.issue_id}`);
    case "session-end-completed":
      return info(`[trigger] session_end completed: issue_id=${event.issue_id}, result=${event.result}`);
    case "session-end-skipped":
      return info(`[trigger] session_end skipped: issue_id=${event.issue_id}, reason=${event.reason}`);
    case "run-end-started":
      return info(`[trigger] run_end started: success_count=${event.success_count}, total_count=${event.total_count}`);
    case "run-end-completed":
      return info(`[trigger] run_end completed: result=${event.result}`);
    case "run-end-skipped":
      return info(`[trigger] run_end skipped: reason=${event.reason}`);
    case "trigger-started":
      return info(`[trigger] ${event.trigger} started: ${event.about}`);
    case "trigger-completed": {
      if (event.result === "skipped") {
        return info(`[trigger] ${event.trigger} skipped: ${event.about}, reason=${event.reason}`);
      }
      const level = event.result === "pass" ? "info" : "warn";
      return { level, text: `[trigger] ${event.trigger} completed: ${event.about}, result=${event.result}` };
    }
    default:
      return null;
  }
}

function runLine(event: PublicEvent): LogLine | null {
  switch (event.type) {
    case "run-started":
      if (event.run_start_commit === "") return info(`run ${event.run_id} started`);
      return info(`run ${event.run_id} started on ${event.target_branch} at ${shortSha(event.run_start_commit)}`);
    case "run-finished": {
      const level = event.exit_code === 0 ? "info" : "error";
      return { level, text: `run ${event.run_id} ${event.status}${countsOf(event)}, exit code ${event.exit_code}` };
    }
    case "log": {
      const isOwn = event.issue_id === undefined || fixedLogLine.test(event.text);
      return { level: event.level, text: isOwn ? event.text : `${event.issue_id}: ${event.text}` };
    }
    default:
      return null;
  }
}

function countsOf(event: Extract<PublicEvent, { type: "run-finished" }>): string {
  const counts = formatEndings(endingsIn(event));
  return counts === "" ? "" : `: ${counts}`;
}

/** A workflow's; of an issue's with the issue's name before it. */
function stageLine(event: PublicEvent): LogLine | null {
  const text = stageText(event);
  if (text === null) return null;
  const bad = "outcome" in event ? event.outcome : "status" in event ? event.status : "success";
  const level = bad === "success" || bad === "skipped" ? "info" : "warn";
  return { level, text: event.issue_id === undefined ? text : `${event.issue_id}: ${text}` };
}

function stageText(event: PublicEvent): string | null {
  switch (event.type) {
    case "workflow-started":
      return `workflow ${event.name} started${because(event.goal)}`;
    case "workflow-finished":
      return `workflow ${event.name} ended: ${event.status}${because(event.reason)}`;
    case "stage-started":
      return `stage ${event.stage} started${visitOf(event)}${event.attempt > 1 ? `, attempt ${event.attempt}` : ""}`;
    case "stage-ended": {
      const cost = event.usage?.cost_usd ? `, ${event.usage.cost_usd.toFixed(2)} USD` : "";
      const tries = event.attempts > 1 ? `, ${event.attempts} attempts` : "";
      const took = `${event.seconds.toFixed(1)} s${cost}${tries}`;
      return `stage ${event.stage}${visitOf(event)}: ${event.outcome} (${took})${because(event.reason)}`;
    }
    case "edge-taken":
      return `${event.from} → ${event.to}`;
    default:
      return null;
  }
}

function visitOf({ visit }: { readonly visit: number }): string {
  return visit > 1 ? `, visit ${visit}` : "";
}

function issueLine(event: PublicEvent): LogLine | null {
  const body = lifeText(event) ?? checkText(event) ?? findingText(event);
  return body === null ? null : { level: levelOf(event), text: `${event.issue_id ?? "run"}: ${body}` };
}

function levelOf(event: PublicEvent): LogLine["level"] {
  switch (event.type) {
    case "issue-finished":
      return event.status === "failed" ? "error" : event.status === "success" ? "info" : "warn";
    case "gate-failed":
    case "escalated":
    case "agent-changed":
      return "warn";
    case "turn-ended":
      return event.outcome === "ended" ? "info" : "warn";
    case "review-ended":
      return event.verdict === "pass" ? "info" : "warn";
    case "landed":
    case "target-followed":
      return event.behind === null ? "info" : "warn";
    default:
      return "info";
  }
}

function lifeText(event: PublicEvent): string | null {
  switch (event.type) {
    case "session-known":
      return event.role === "implementer"
        ? `session ${event.session_id}`
        : `${event.role}'s session ${event.session_id}`;
    case "agent-changed":
      return `falling back to ${event.agent}${event.model === null ? "" : ` (${event.model})`}: ${event.reason}`;
    case "issue-started":
      return `started: ${event.title}${event.life > 1 ? ` (life ${event.life})` : ""}`;
    case "worktree-ready":
      return `worktree ready: ${event.path}, branch ${event.branch}, base ${shortSha(event.base_sha)}`;
    case "prompt-sent": {
      const tries = `attempt ${event.attempt} of ${event.max_attempts}`;
      if (event.workflow !== undefined) return `${event.kind} by workflow ${event.workflow}, ${tries}`;
      const to = event.reviewer === undefined ? event.role : `${event.role} ${event.reviewer}`;
      return `prompt ${event.kind} sent to ${to}, ${tries}`;
    }
    case "turn-ended":
      return `${event.reviewer ?? event.role}'s turn: ${event.outcome}${because(event.reason)}`;
    case "waiting": {
      // What it waits for may be a thing or a sentence: "usage limit", "the branch main is gone: run ...".
      const until = event.until === null ? "" : ` until ${new Date(event.until).toISOString()}`;
      return `waiting${until}: ${event.for}`;
    }
    case "escalated":
      return `escalated${because(event.reason)}${event.dossier === null ? "" : `, dossier ${event.dossier}`}`;
    case "landed": {
      const how = event.merged ? "merged into" : "landed on";
      const behind = event.behind === null ? "" : `; ${event.behind}`;
      return `${how} ${event.target_branch} as ${shortSha(event.commit)}${behind}`;
    }
    case "target-followed":
      return event.behind ?? `${event.target_branch} has followed: all that has landed is there`;
    case "issue-finished": {
      const commit = event.commit === null ? "" : `, commit ${shortSha(event.commit)}`;
      const quarantined = event.quarantined ? `; quarantined: ratchet retry ${shellWord(event.issue_id ?? "")}` : "";
      return `${event.status}${because(event.message)}${commit}${quarantined}`;
    }
    default:
      return null;
  }
}

function checkText(event: PublicEvent): string | null {
  switch (event.type) {
    case "gate-started":
      return `gate started, attempt ${event.attempt} of ${event.max_attempts}, commit ${shortSha(event.commit)}`;
    case "gate-passed":
      return `gate passed, attempt ${event.attempt}, commit ${shortSha(event.commit)}`;
    case "gate-failed":
      return `gate failed, attempt ${event.attempt}, ${plural(event.findings, "finding")}${because(event.reasons.join("; "))}`;
    case "fixer-started":
      return `fixer for ${event.stage} started, attempt ${event.attempt} of ${event.max_attempts}`;
    case "fixer-ended":
      return `fixer for ${event.stage} ended, attempt ${event.attempt}: ${event.outcome}`;
    case "review-started":
      return `review by ${event.reviewer} started, round ${event.attempt}, commit ${shortSha(event.commit)}`;
    case "review-ended":
      return `review by ${event.reviewer} ended, round ${event.attempt}: ${event.verdict}, ${plural(event.findings, "finding")}${because(event.reason)}`;
    default:
      return null;
  }
}

function findingText(event: PublicEvent): string | null {
  switch (event.type) {
    case "finding-raised": {
      const word = event.reopened ? "reopened" : event.again ? "still open" : "raised";
      const what = `${formatPriority(event.priority)} ${event.title}`;
      return `finding ${word}: ${what} (${formatPlace(event)}, ${event.reviewer}, ${event.finding})`;
    }
    case "finding-rejected":
      return `the implementer rejects ${event.finding} ${event.title}: ${event.reason}`;
    case "finding-resolved":
      return `finding ${event.status}: ${event.title} (${event.finding})${because(event.reason)}`;
    default:
      return null;
  }
}

function because(reason: string | null | undefined): string {
  return reason === null || reason === undefined || reason === "" ? "" : `: ${reason}`;
}
