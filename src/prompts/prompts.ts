import type { Interruption } from "../core/issue/events.js";
import type { SessionEndResult } from "../core/report.js";
import {
  type ChildText,
  type CommandFailure,
  childrenSection,
  commandList,
  diffSection,
  earlierFindingsSection,
  failureSection,
  findingsSection,
  guidesLine,
  type IssueText,
  issueSection,
  type Moved,
  mergeSection,
  movedSection,
  type NamedCommand,
  optional,
  type Patch,
  refusedSection,
  replySection,
  sessionEndSection,
  settledSection,
} from "./sections.js";
import { fillTemplate, type Templates, type TemplateValues } from "./templates.js";

/** Findings of any usual size go along whole; past this the rest is in a file the prompt points to. */
export const findingsBudgetBytes = 256 * 1024;
export const diffBudgetBytes = 96 * 1024;

interface Common {
  /** The project's own words at the end of every prompt (`.ratchet/prompts/append.md`); null: none. */
  readonly projectText: string | null;
}
interface Attempt {
  readonly attempt: number;
  readonly maxAttempts: number;
}

interface Resumed {
  /** What the target has come to have since an earlier life; absent or null: nothing. */
  readonly moved?: Moved | null;
}

export interface ImplementerData extends Common, Resumed {
  readonly issue: IssueText;
  readonly branch: string;
  readonly commands: readonly NamedCommand[];
  /** Those of AGENTS.md and CLAUDE.md that the worktree has. */
  readonly guides: readonly string[];
  /** Open findings of an earlier life, rendered; null: none. */
  readonly findings: string | null;
}
export function implementerPrompt(data: ImplementerData, templates: Templates): string {
  return fillTemplate("implementer", templates, {
    issue_id: data.issue.id,
    issue: issueSection(data.issue),
    branch: data.branch,
    guides: guidesLine(data.guides),
    commands: commandList(data.commands),
    findings: withMoved(
      optional(
        data.findings,
        (text) => `## Open findings\n\nAn earlier attempt left these; address them too.\n\n${findingsSection(text)}`,
      ),
      data,
    ),
    project_text: data.projectText ?? "",
  });
}

type Merge = { readonly target: string; readonly commit: string } | null;

/** What a workflow that implements an issue is for, in words for all of its stages: what is asked, what is open, what counts. */
export function goalPrompt(
  data: Omit<ImplementerData, "projectText"> & { readonly merge: Merge },
  templates: Templates,
): string {
  const open = "Checks and reviews of the work so far have found these; each of them has to be addressed.";
  return fillTemplate("goal", templates, {
    issue_id: data.issue.id,
    issue: issueSection(data.issue),
    branch: data.branch,
    guides: guidesLine(data.guides),
    commands: commandList(data.commands),
    findings: optional(data.findings, (text) => `## Open findings\n\n${open}\n\n${findingsSection(text)}`),
    merge: data.merge ? mergeSection(data.merge) : "",
  });
}

export interface FollowupData extends Common, Attempt, Resumed {
  readonly issueId: string;
  /** Rendered; see renderFindings. */
  readonly findings: string;
  readonly commands: readonly NamedCommand[];
}
/** `merge`: the commit of the target that the branch must contain before it is judged again; null: none is demanded. */
export function gateFollowupPrompt(data: FollowupData & { readonly merge: Merge }, templates: Templates): string {
  return fillTemplate("gate_followup", templates, {
    ...followupValues(data),
    merge: data.merge ? mergeSection(data.merge) : "",
  });
}
/** `issue`: nothing is left of the work that the findings are about; null: it is there. */
export function reviewFollowupPrompt(
  data: FollowupData & { readonly issue: IssueText | null },
  templates: Templates,
): string {
  const anew = "Nothing is left of the earlier work: you start anew, and what follows is to be done as a whole.";
  return fillTemplate("review_followup", templates, {
    ...followupValues(data),
    issue: data.issue ? `## The issue\n\n${anew}\n\n${issueSection(data.issue)}` : "",
  });
}

export interface FixerData extends Common, Attempt {
  /** `session_end`, `per_issue_review`, `run_end`, … */
  readonly stage: string;
  /** null: a fixer of the whole run. */
  readonly issue: IssueText | null;
  readonly failure: CommandFailure | null;
  readonly findings: string | null;
  readonly commands: readonly NamedCommand[];
  readonly guides: readonly string[];
}
export function fixerPrompt(data: FixerData, templates: Templates): string {
  return fillTemplate("fixer", templates, {
    scope: data.issue ? `${data.stage} of issue ${data.issue.id}` : `${data.stage} of this run`,
    ...attemptValues(data),
    issue: data.issue ? `## The issue it is about\n\n${issueSection(data.issue)}` : "",
    failure: data.failure ? failureSection(data.failure) : "",
    findings: optional(data.findings, (text) => `## Open findings\n\n${findingsSection(text)}`),
    commands: commandList(data.commands),
    guides: guidesLine(data.guides),
    project_text: data.projectText ?? "",
  });
}

export interface ReviewData extends Common, Attempt {
  readonly issue: IssueText;
  readonly reviewer: string;
  readonly baseSha: string;
  readonly headSha: string;
  readonly diff: Patch;
  readonly diffBudgetBytes: number;
  /** This reviewer's own, rendered; null: none. */
  readonly earlierFindings: string | null;
  /** The implementer's last message after the previous round; null: none. */
  readonly reply: string | null;
  /** Findings that nobody should raise again, a line each; null: none. */
  readonly settled: string | null;
  readonly sessionEnd: SessionEndResult | null;
  /** Why this reviewer's last answer did not count; null: it did. */
  readonly refused: string | null;
}
export function reviewPrompt(data: ReviewData, templates: Templates): string {
  return fillTemplate("review", templates, {
    issue_id: data.issue.id,
    issue: issueSection(data.issue),
    reviewer: data.reviewer,
    ...attemptValues(data),
    base_sha: data.baseSha,
    head_sha: data.headSha,
    diff: diffSection(data.diff, data.diffBudgetBytes),
    earlier_findings: optional(data.earlierFindings, earlierFindingsSection),
    reply: optional(data.reply, replySection),
    settled: optional(data.settled, settledSection),
    session_end: data.sessionEnd ? sessionEndSection(data.sessionEnd) : "",
    refused: optional(data.refused, refusedSection),
    project_text: data.projectText ?? "",
  });
}

export interface VerificationData extends Common {
  readonly epic: IssueText;
  readonly reviewer: string;
  readonly children: readonly ChildText[];
  readonly baseSha: string;
  readonly headSha: string;
  readonly diff: Patch;
  readonly diffBudgetBytes: number;
  /** Of earlier verifications of the epic, rendered; null: none. */
  readonly earlierFindings: string | null;
  /** Why this reviewer's last answer did not count; null: it did. */
  readonly refused: string | null;
}
export function verificationPrompt(data: VerificationData, templates: Templates): string {
  return fillTemplate("epic_verification", templates, {
    epic_id: data.epic.id,
    epic: issueSection(data.epic),
    reviewer: data.reviewer,
    children: childrenSection(data.children),
    base_sha: data.baseSha,
    head_sha: data.headSha,
    diff: diffSection(data.diff, data.diffBudgetBytes),
    earlier_findings: optional(data.earlierFindings, earlierFindingsSection),
    refused: optional(data.refused, refusedSection),
    project_text: data.projectText ?? "",
  });
}

export interface ContinueData {
  readonly issueId: string;
  /** What ended the turn; undefined: nobody has written it down. */
  readonly interrupted: Interruption | undefined;
  readonly idleSeconds: number;
}
export function continuePrompt(data: ContinueData, templates: Templates): string {
  return fillTemplate("continue", templates, { issue_id: data.issueId, reason: interruptionReason(data) });
}

function interruptionReason({ interrupted, idleSeconds }: ContinueData): string {
  switch (interrupted) {
    case "idle":
      return `it printed nothing for ${idleSeconds} s, and Ratchet stopped it`;
    case "lost":
      return "its process ended before the turn did";
    case "stopped":
      return "it was stopped before it was done";
    case "limited":
      return "it met a usage limit";
    case "transient":
      return "its model could not be reached";
    case undefined:
      return "it did not come to its end";
  }
}

function followupValues(data: FollowupData): Omit<TemplateValues<"review_followup">, "issue"> {
  return {
    issue_id: data.issueId,
    ...attemptValues(data),
    findings: withMoved(findingsSection(data.findings), data),
    commands: commandList(data.commands),
    project_text: data.projectText ?? "",
  };
}

function withMoved(findings: string, { moved }: Resumed): string {
  return [findings, moved ? movedSection(moved) : ""].filter((part) => part !== "").join("\n\n");
}

function attemptValues(data: Attempt): { readonly attempt: string; readonly max_attempts: string } {
  return { attempt: String(data.attempt), max_attempts: String(data.maxAttempts) };
}
