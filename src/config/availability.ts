import { type Diagnostic, diagnosticAt } from "./diagnostic.js";
import { type Path, placeOf, type Source, valueAt } from "./source.js";

/**
 * The one list of what the configuration describes and this version cannot do yet. Each is refused where it is used:
 * a setting that is read and then ignored would be a lie. A line goes when its feature arrives.
 */
interface Unavailable {
  readonly path: Path;
  readonly when: (value: unknown) => boolean;
  /** What it is called in "… is not available yet". */
  readonly what: string;
}

export const validations = ["review", "session_end", "run_end", "epic_completion", "periodic"] as const;
export type Validation = (typeof validations)[number];

/** A setting or section, whatever is in it. */
function feature(path: Path, what: string): Unavailable {
  return { path, when: (value) => value !== undefined && value !== null, what };
}

const unavailable: readonly Unavailable[] = [feature(["store", "url"], "another database")];

/** The list for the reference. */
export function unavailableSettings(): string[] {
  return unavailable.map(({ path }) => `\`${path.join(".")}\``);
}

/** One error for each use of what is not available, at its place. */
export function refuseUnavailable(source: Source): Diagnostic[] {
  return unavailable
    .filter(({ path, when }) => when(valueAt(source.root, path)))
    .map(({ path, what }) => diagnosticAt(placeOf(source, path), { path, message: `${what} is not available yet` }));
}
