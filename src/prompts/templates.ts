import type { PromptKind } from "../core/issue/effects.js";
import { namesIn, renderTemplate } from "./template.js";

/** The names each template may use. A project's own template may leave some out; see fillTemplate for `project_text`. */
export const templateNames = {
  implementer: ["issue_id", "issue", "branch", "guides", "commands", "findings", "project_text"],
  gate_followup: ["issue_id", "attempt", "max_attempts", "findings", "merge", "commands", "project_text"],
  review_followup: ["issue_id", "attempt", "max_attempts", "issue", "findings", "commands", "project_text"],
  fixer: ["scope", "attempt", "max_attempts", "issue", "failure", "findings", "commands", "guides", "project_text"],
  review: [
    "issue_id",
    "issue",
    "reviewer",
    "attempt",
    "max_attempts",
    "base_sha",
    "head_sha",
    "diff",
    "earlier_findings",
    "reply",
    "settled",
    "session_end",
    "refused",
    "project_text",
  ],
  epic_verification: [
    "epic_id",
    "epic",
    "reviewer",
    "children",
    "base_sha",
    "head_sha",
    "diff",
    "earlier_findings",
    "refused",
    "project_text",
  ],
  rework: [
    "pr_number",
    "pr_url",
    "branch",
    "cycle",
    "max_cycles",
    "summary",
    "comments",
    "conflict",
    "commands",
    "guides",
    "project_text",
  ],
  continue: ["issue_id", "reason"],
  stage: ["prompt", "context", "findings", "answer", "project_text"],
  goal: ["issue_id", "issue", "branch", "guides", "commands", "findings", "merge"],
} as const satisfies Record<PromptKind, readonly string[]>;

export type Templates = Readonly<Record<PromptKind, string>>;
export type TemplateValues<K extends PromptKind> = Readonly<Record<(typeof templateNames)[K][number], string>>;

export const promptKinds: readonly PromptKind[] = [
  "implementer",
  "gate_followup",
  "review_followup",
  "fixer",
  "review",
  "epic_verification",
  "rework",
  "continue",
  "stage",
  "goal",
];

/** Why a template cannot be used: a name that it is not given; null: it can. */
export function templateProblem(kind: PromptKind, template: string): string | null {
  const known: readonly string[] = templateNames[kind];
  const unknown = namesIn(template).filter((name) => !known.includes(name));
  if (unknown.length === 0) return null;
  const used = unknown.map((name) => `{{${name}}}`).join(", ");
  return `uses ${used}, which this prompt does not have; it has ${known.join(", ")}`;
}

/** The project's own words are in every prompt that takes them: at its end, where a template of the project names no place. */
export function fillTemplate<K extends PromptKind>(
  kind: K,
  templates: Pick<Templates, K>,
  values: TemplateValues<K>,
): string {
  const given: Readonly<Record<string, string>> = values;
  const template = templates[kind];
  const text = renderTemplate(template, values);
  const isPlaced = namesIn(template).includes("project_text");
  return isPlaced || !given.project_text ? text : `${text}\n${renderTemplate("{{project_text}}", given)}`;
}
