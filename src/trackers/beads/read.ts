import { ExternalError } from "../../lib/errors.js";

/**
 * What `bd` and `br` print as JSON, the only place that knows their field names. The two differ, and both change: an
 * issue list is bare or in an envelope, a dependency is a record or a small issue. So unknown fields are ignored and
 * missing ones get a default; but an answer that holds no issues at all is an error, never "no work".
 */
export interface Bead {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly design: string;
  readonly acceptance: string;
  readonly notes: string;
  readonly status: string;
  readonly priority: number;
  readonly type: string;
  readonly assignee: string | null;
  readonly labels: readonly string[];
  /** null: the answer does not say. */
  readonly changedAt: number | null;
  readonly closedAt: number | null;
  readonly parent: string | null;
  /** What must be closed first. */
  readonly blockers: readonly Linked[];
  /** Of an epic, in its details only. */
  readonly children: readonly Linked[];
}
/** null: the answer did not say. */
interface Linked {
  readonly id: string;
  readonly status: string | null;
  readonly closedAt: number | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** `call` names the command in messages. */
export function readBeads(stdout: string, call: string): Bead[] {
  const list = toList(parse(stdout, call));
  if (list === null) throw unreadable(call, "is not a list of issues", stdout);
  return list.map((each) => {
    const bead = isFields(each) ? toBead(each) : null;
    if (bead === null) throw unreadable(call, "has an issue without an id", JSON.stringify(each) ?? "");
    return bead;
  });
}

/** The program's own words for what went wrong; null: it gave none in JSON. */
export function readErrorText(stdout: string): string | null {
  const value = tryParse(stdout);
  if (!isFields(value)) return null;
  const error = isFields(value.error) ? value.error.message : (value.error ?? value.message);
  return toText(error);
}

function unreadable(call: string, what: string, found: string): ExternalError {
  const start = found.trim().slice(0, 120);
  return new ExternalError("tracker", `the answer of ${call} ${what}: ${start === "" ? "nothing" : start}`, {
    retryable: true,
  });
}

function parse(stdout: string, call: string): unknown {
  const value = tryParse(stdout);
  if (value === undefined) throw unreadable(call, "is not JSON", stdout);
  return value;
}

/** A notice may stand on the lines before the answer. undefined: there is no JSON. */
function tryParse(text: string): unknown {
  const start = /^[[{]/m.exec(text)?.index ?? 0;
  for (const part of [text, text.slice(start)]) {
    try {
      const value: unknown = JSON.parse(part);
      return value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

/** Go writes an empty list as null. A single issue is a list of one. */
function toList(value: unknown): readonly unknown[] | null {
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  if (!isFields(value)) return null;
  if (typeof value.id === "string") return [value];
  for (const key of ["data", "items", "issues", "issue"]) if (key in value) return toList(value[key]);
  return null;
}

function toBead(fields: Fields): Bead | null {
  const id = toText(fields.id);
  if (id === null) return null;
  const dependencies = toDependencies(fields.dependencies, id);
  const dependents = toDependencies(fields.dependents, id);
  return {
    id,
    title: toText(fields.title) ?? id,
    description: toText(fields.description) ?? "",
    design: toText(fields.design) ?? "",
    acceptance: toText(fields.acceptance_criteria) ?? toText(fields.acceptance) ?? "",
    notes: toText(fields.notes) ?? "",
    status: toText(fields.status) ?? "open",
    priority: toPriority(fields.priority),
    type: toText(fields.issue_type) ?? toText(fields.type) ?? "task",
    assignee: toText(fields.assignee),
    labels: Array.isArray(fields.labels) ? fields.labels.filter((label) => typeof label === "string") : [],
    changedAt: toTime(fields.updated_at),
    closedAt: toTime(fields.closed_at),
    parent: toText(fields.parent) ?? dependencies.find(({ type }) => type === "parent-child")?.id ?? null,
    blockers: linked(dependencies, "blocks"),
    children: linked(dependents, "parent-child"),
  };
}

interface Dependency extends Linked {
  readonly type: string;
}

function linked(links: readonly Dependency[], kind: string): Linked[] {
  return links.filter(({ type }) => type === kind).map(({ type: _, ...link }) => link);
}

/** Lists show the record (`depends_on_id`, `type`), details the other issue with the kind of the link. */
function toDependencies(value: unknown, owner: string): Dependency[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    if (!isFields(each)) return [];
    const id = [each.depends_on_id, each.issue_id, each.id].map(toText).find((name) => name !== null && name !== owner);
    if (id === undefined || id === null) return [];
    const type = toText(each.dependency_type) ?? toText(each.dep_type) ?? toText(each.type) ?? "blocks";
    return [{ id, type, status: toText(each.status), closedAt: toTime(each.closed_at) }];
  });
}

/** 0 … 4; where there is none, the default of both programs. */
function toPriority(value: unknown): number {
  const level = typeof value === "string" ? Number(/^\s*[Pp]?(\d)\s*$/.exec(value)?.[1] ?? Number.NaN) : value;
  return typeof level === "number" && Number.isInteger(level) && level >= 0 ? level : 2;
}

function toTime(value: unknown): number | null {
  return Date.parse(toText(value) ?? "") || null;
}

function toText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
