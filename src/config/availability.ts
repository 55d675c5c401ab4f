import { type Diagnostic, diagnosticAt } from "./diagnostic.js";
import { type Path, placeOf, type Source, valueAt } from "./source.js";

/**
 * The one list of what the configuration describes and this version cannot do yet. Each is refused where it is used:
 * a setting that is read and then ignored would be a lie. A line goes when its feature arrives.
 */
interface Unavailable {
  readonly path: Path;
  readonly when: (value: unknown) => boolean;
  /** What it is called in "… is not available yet"; null: the value itself. */
  readonly what: string | null;
  /** For the reference: the values it is about, where not all. */
  readonly values: readonly string[];
  readonly hint?: string;
}

export const validations = ["review", "session_end", "run_end", "epic_completion", "periodic"] as const;
export type Validation = (typeof validations)[number];

type More = Pick<Unavailable, "hint">;

/** Some values of a setting. */
function values(path: Path, some: readonly string[], more: More = {}): Unavailable {
  const when = (value: unknown): boolean => typeof value === "string" && some.includes(value);
  return { path, when, what: null, values: some, ...more };
}

/** A setting or section, whatever is in it. */
function feature(path: Path, what: string, more: More = {}): Unavailable {
  return { path, when: (value) => value !== undefined && value !== null, what, values: [], ...more };
}

const unavailable: readonly Unavailable[] = [
  values(["tracker", "type"], ["github"]),
  feature(["store", "url"], "another database"),
];

/** The list for the reference: `tracker.type: github`. */
export function unavailableSettings(): string[] {
  return unavailable.map(({ path, values: some }) => {
    const key = path.join(".");
    return some.length === 0 ? `\`${key}\`` : `\`${key}\`: ${some.join(", ")}`;
  });
}

/** One error for each use of what is not available, at its place. */
export function refuseUnavailable(source: Source): Diagnostic[] {
  return unavailable
    .filter(({ path, when }) => when(valueAt(source.root, path)))
    .map(({ path, what, hint }) => {
      const message = `${what ?? String(valueAt(source.root, path))} is not available yet`;
      return diagnosticAt(placeOf(source, path), { path, message, hint });
    });
}
