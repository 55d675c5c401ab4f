import type { FindingJson } from "./finding-json.js";
import type { Usage } from "./issue/events.js";
import { knownPlace, sayWho } from "./ledger/render-words.js";
import { plainLine } from "./plain-text.js";

/** What a person needs who decides about an escalated issue. Paths are absolute. Key names are those of dossier.json. */
export interface Dossier {
  readonly issue_id: string;
  readonly title: string;
  readonly run_id: string;
  readonly life: number;
  readonly reason: string;
  readonly counters: { readonly gate: number; readonly review: number; readonly session_end: number };
  readonly attempts: readonly DossierAttempt[];
  readonly open_findings: readonly FindingJson[];
  /** null: nothing was changed. */
  readonly diff_path: string | null;
  readonly prompts: readonly string[];
  readonly cost: Usage & { readonly minutes: number };
  readonly worktree_path: string;
  readonly branch: string;
}
export interface DossierAttempt {
  /** Its folder beside the dossier, such as `03-gate_followup`, or `01-implementer/02-review` where that turn was a workflow. */
  readonly folder: string;
  readonly role: string;
  readonly kind: string;
  readonly attempt: number;
  readonly max_attempts: number;
  /** null: it was lost or stopped before it could say. */
  readonly exit_code: number | null;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The same for reading: on a terminal, too. */
export function renderDossier(dossier: Dossier): string {
  return sectionsOf(dossier)
    .map((lines) => `${lines.map(plainLine).join("\n")}\n`)
    .join("\n");
}

function sectionsOf(dossier: Dossier): readonly (readonly string[])[] {
  const { issue_id: id, open_findings: open, cost } = dossier;
  const price = cost.cost_usd === null ? "cost unknown" : `${formatAmount(cost.cost_usd, 2)} USD`;
  const { gate, review, session_end } = dossier.counters;
  return [
    [`# ${id}: ${dossier.title}`],
    [`Escalated in run ${dossier.run_id}: ${dossier.reason}`],
    ["## What was tried"],
    [
      `- ${count(gate, "gate")}, ${count(review, "review round")}, ${count(session_end, "session_end execution")}`,
      ...dossier.attempts.map(attemptLine),
    ],
    [`## Open findings (${open.length})`],
    open.length === 0 ? ["None."] : open.map(findingLine),
    ["## Where it is"],
    [
      `- Diff: ${dossier.diff_path ?? "nothing was changed"}`,
      `- Worktree: ${dossier.worktree_path}, branch ${dossier.branch}`,
      ...dossier.prompts.map((path) => `- Prompt: ${path}`),
    ],
    ["## Cost"],
    [`${price}, ${cost.input_tokens} tokens in, ${cost.output_tokens} out, ${formatAmount(cost.minutes, 1)} minutes`],
    ["## What to do"],
    [
      `- Try again from here: \`ratchet retry ${id}\`, then \`ratchet run --resume ${id}\``,
      `- Repair it by hand in the worktree, commit, then \`ratchet land ${id}\``,
    ],
  ];
}

/** What is too little for these digits gets as many as it needs: it is not nothing. */
function formatAmount(value: number, digits: number): string {
  const fixed = value.toFixed(digits);
  return value > 0 && Number(fixed) === 0 ? String(Number(value.toPrecision(1))) : fixed;
}

function attemptLine({ folder, role, attempt, max_attempts, exit_code }: DossierAttempt): string {
  return `- ${folder}: ${role}, ${attempt} of ${max_attempts}, ${exit_code === null ? "no exit" : `exit ${exit_code}`}`;
}

function findingLine(finding: FindingJson): string {
  const rank = finding.priority === null ? "" : `P${finding.priority} `;
  const place = knownPlace(finding);
  const line = `- ${rank}${finding.title}${place === "" ? "" : ` (${place})`}, by ${finding.reviewers.join(", ")}`;
  return [line, ...finding.also_reported.map(sayWho)].join(". ");
}
