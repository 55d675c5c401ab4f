import { clip } from "../../core/clip.js";
import { Unreadable } from "../../lib/program-files.js";
import type { Json, StageTurnEnded } from "../../workflow/machine/events.js";
import { asStatus, type StatusRead, statusWords } from "../../workflow/status.js";

/**
 * What a stage wrote into its result file. It is foreign: what has the wrong type is as good as not there, but for the
 * status, which is broken then and no pass. A review may also answer as a reviewer of an issue does, with a verdict and
 * findings.
 */
export interface StageResult {
  /** null: it says nothing of the outcome. */
  readonly status: StatusRead | null;
  /** A reviewer's findings, to be read; empty: none. */
  readonly remarks: string;
  readonly context: Pick<StageTurnEnded, "contextUpdates" | "contextAppends">;
}

const keys = ["status", "outcome", "failure_reason", "preferred_label", "suggested_next_ids"];

/** What decides how the workflow goes on: of anything else a stage may say two things. */
export const resultKeys = [...keys, "verdict", "findings", "context_updates", "context_appends"];

/** `value`: undefined where there is no file, `Unreadable` where it says nothing clear. */
export function readResult(value: unknown, { review }: { readonly review: boolean }): StageResult {
  const why = value === undefined ? null : problemOf(value, review);
  if (why !== null) return { status: { ...statusOf({}), broken: why }, remarks: "", context: {} };
  const fields = objectOf(value);
  const updates = contextOf(fields.context_updates);
  const appends = contextOf(fields.context_appends);
  const findings = review ? findingsOf(fields) : [];
  const said = keys.some((key) => key in fields) ? statusOf(fields) : null;
  const word = fields.verdict ?? (findings.some(blocks) ? "fail" : null);
  const verdict = review && said?.status == null ? verdictOf(word, findings) : null;
  return {
    status: verdict === null ? said : { ...(said ?? statusOf(fields)), ...verdict },
    remarks: findings.filter(hasText).map(remark).join("\n\n"),
    context: {
      ...(updates === null ? {} : { contextUpdates: updates }),
      ...(appends === null ? {} : { contextAppends: appends }),
    },
  };
}

function problemOf(value: unknown, review: boolean): string | null {
  if (value instanceof Unreadable) return value.why;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is no JSON object";
  const { status, outcome, verdict } = objectOf(value);
  const word = status ?? outcome ?? null;
  if (word !== null && asStatus(textOf(word)) === null)
    return `says ${quoted(word)}, which is none of ${statusWords.join(", ")}`;
  if (!review) return null;
  const judged = word === null ? (verdict ?? null) : null;
  if (judged !== null && verdictOf(judged, []) === null) return `says ${quoted(judged)}, which is no verdict`;
  return problemOfFindings(objectOf(value).findings ?? []) ?? contradiction(objectOf(value));
}

/** As in a reviewer's answer: what is said of a finding and cannot be read might be what blocks. */
function problemOfFindings(given: unknown): string | null {
  if (!Array.isArray(given)) return `has ${quoted(given)} as findings, which is no list`;
  const lost = given.find((one) => typeof one !== "object" || one === null || Array.isArray(one));
  if (lost !== undefined) return `has ${quoted(lost)} among its findings, which is none`;
  const unclear = given.find(({ priority = null }) => priority !== null && levelOf(priority) === null);
  return unclear === undefined ? null : `says priority ${quoted(unclear.priority)}, which is none of 0 to 3`;
}

/** Whoever says success, and in the same file that it fails, has not said which. */
function contradiction(fields: Fields): string | null {
  const word = asStatus(textOf(fields.status) ?? textOf(fields.outcome));
  const passes = word === "success" || word === "partial_success";
  const judged = verdictOf(textOf(fields.verdict) ?? "pass", findingsOf(fields));
  return passes && judged?.status === "fail" ? `says ${word}, and that it fails` : null;
}

function findingsOf({ findings }: Fields): Fields[] {
  return Array.isArray(findings) ? findings.map(objectOf) : [];
}

/** null: it is none. */
function levelOf(priority: unknown): number | null {
  const level = /^\s*[Pp]?([0-3])\s*$/.exec(String(priority))?.[1];
  return level === undefined ? null : Number(level);
}

function quoted(value: unknown): string {
  return clip(JSON.stringify(value), 100);
}

type Fields = Readonly<Record<string, unknown>>;

/** A finding that always blocks counts more than the word. */
function verdictOf(word: unknown, findings: readonly Fields[]): Pick<StatusRead, "status" | "failureReason"> | null {
  const verdict = textOf(word)?.trim().toLowerCase();
  if (verdict !== "pass" && verdict !== "fail") return null;
  if (verdict === "pass" && !findings.some(blocks)) return { status: "success", failureReason: null };
  const [first] = findings;
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : "";
  return { status: "fail", failureReason: first === undefined ? null : `${headline(first)}${more}` };
}

/** At every setting. */
function blocks({ priority = null }: Fields): boolean {
  return [0, 1].includes(levelOf(priority) ?? 3);
}

function hasText({ title, body, file }: Fields): boolean {
  return [title, body, file].some((part) => textOf(part) !== null);
}

function headline({ file, line_start: line, title, body }: Fields): string {
  const place = textOf(file) === null ? "" : `${textOf(file)}${Number(line) > 0 ? `:${Number(line)}` : ""}: `;
  return `${place}${textOf(title) ?? textOf(body)?.split("\n", 1)[0] ?? "a finding"}`;
}

function remark(finding: Fields): string {
  const { priority, title } = finding;
  const level = levelOf(priority);
  const rank = level === null ? "" : `[P${level}] `;
  const body = textOf(title) === null ? null : textOf(finding.body);
  return `${rank}${headline(finding)}${body === null ? "" : `\n${body}`}`;
}

function statusOf(fields: Fields): StatusRead {
  const { failure_reason: reason, preferred_label: label, suggested_next_ids: next } = fields;
  return {
    from: "file",
    status: asStatus(textOf(fields.status) ?? textOf(fields.outcome)),
    failureReason: textOf(reason),
    preferredLabel: textOf(label),
    nextIds: Array.isArray(next) ? next.filter((id): id is string => typeof id === "string" && id !== "") : [],
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** It has come from a JSON file, so what is in it is JSON. */
function contextOf(value: unknown): Readonly<Record<string, Json>> | null {
  const fields = objectOf(value);
  return Object.keys(fields).length === 0 ? null : (fields as Readonly<Record<string, Json>>);
}

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
