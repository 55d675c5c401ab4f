import { type Priority, readPriority } from "../core/finding.js";

/**
 * What a finding says of whether it blocks. The key for it is `priority`; `severity` is somebody's other word for it. Where a
 * finding has both, the worse counts, and a severity that nobody can place lets nothing through.
 */
export type PriorityReading =
  | { readonly type: "priority"; readonly priority: Priority }
  | { readonly type: "unclear"; readonly reason: string };

/** An explicit null says that it does not block; a reviewer that fails the change, or tells a severity, must say what does. */
export function readFindingPriority(
  { priority: given, severity: word = null }: Readonly<Record<string, unknown>>,
  verdict: "pass" | "fail",
): PriorityReading {
  const priority = readPriority(given);
  if (given === undefined && (verdict === "fail" || word !== null))
    return unclear(`a finding has no priority: ${wanted}`);
  if (given !== undefined && given !== null && priority === null)
    return unclear(`${show(given)} is no priority: ${wanted}`);
  if (word === null || priority === 0) return { type: "priority", priority };
  const severity = readSeverity(word);
  if (severity === undefined) return unclear(`${show(word)} is no severity that is known; priority is ${wanted}`);
  return { type: "priority", priority: worse(priority, severity) };
}

/** Says how bad something is, in a key of any case: what is neither in its place nor known must not be passed over. */
export function isFindingLike(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(fields).some((key) => /^(?:priority|severity)$/i.test(key));
}

const wanted = "0 to 3, or null";

/** undefined: a word that nobody knows the weight of. */
function readSeverity(value: unknown): Priority | undefined {
  const word = typeof value === "string" ? value.trim().toLowerCase() : null;
  const level = severities.findIndex((words) => word !== null && words.includes(word));
  if (level !== -1) return level < 4 ? level : null;
  return readPriority(value) ?? undefined;
}

/** P0 to P3, and last what never blocks. */
const severities: readonly (readonly string[])[] = [
  ["critical", "blocker", "blocking", "fatal", "severe"],
  ["high", "major", "error"],
  ["medium", "moderate", "warning"],
  ["low", "minor"],
  ["", "info", "informational", "note", "nit", "none", "suggestion", "trivial"],
];

function worse(a: Priority, b: Priority): Priority {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function unclear(reason: string): PriorityReading {
  return { type: "unclear", reason };
}

export function show(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 80);
}
