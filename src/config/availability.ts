import { type Diagnostic, diagnosticAt } from "./diagnostic.js";
import { mappingAt, type Path, placeOf, type Source, valueAt } from "./source.js";

/**
 * The one list of what the configuration describes and this version cannot do yet. Each is refused where it is used:
 * a setting that is read and then ignored would be a lie. A line goes when its feature arrives.
 */
interface Unavailable {
  /** "*" stands for every entry of a list. */
  readonly path: Path;
  readonly when: (value: unknown, root: unknown) => boolean;
  /** What it is called in "… is not available yet"; null: the value itself. */
  readonly what: string | null;
  /** For the reference: the values it is about, where not all. */
  readonly values: readonly string[];
  readonly hint?: string;
  /** The validation it belongs to: switched off on the command line, it is not used. */
  readonly part?: Validation;
}

export const validations = ["review", "session_end", "run_end", "epic_completion", "periodic"] as const;
export type Validation = (typeof validations)[number];

const useCommandAgent = "any program can be the agent: agent: {type: command, command: [program, argument]}";
const useCommandReviewer = "any program can be the reviewer: reviewer_type: command, command: [program, argument]";

type More = Pick<Unavailable, "hint" | "part"> & { readonly within?: (root: unknown) => boolean };

/** Some values of a setting; `byDefault` is the one that counts where none is given. */
function values(path: Path, some: readonly string[], more: More & { byDefault?: string } = {}): Unavailable[] {
  const { byDefault, within = () => true, ...rest } = more;
  const isOne = (value: unknown): boolean => typeof value === "string" && some.includes(value);
  const given: Unavailable = {
    path,
    when: (value, root) => within(root) && isOne(value),
    what: null,
    values: some,
    ...rest,
  };
  if (byDefault === undefined) return [given];
  const when = (value: unknown, root: unknown): boolean => within(root) && value === undefined;
  return [given, { path, when, what: `${byDefault} (the default)`, values: [byDefault], ...rest }];
}

/** A setting or section, whatever is in it. */
function feature(path: Path, what: string, more: More = {}): Unavailable[] {
  const { within = () => true, ...rest } = more;
  const when = (value: unknown, root: unknown): boolean => within(root) && value !== undefined && value !== null;
  return [{ path, when, what, values: [], ...rest }];
}

const review = (root: unknown) => mappingAt(root, ["per_issue_review"]);
const isReviewed = (root: unknown): boolean => review(root).enabled === true;
const isPanel = (root: unknown): boolean => isReviewed(root) && review(root).reviewer_type === "panel";
const whenReviewed: More = { within: isReviewed, hint: useCommandReviewer, part: "review" };
const whenPanel: More = { ...whenReviewed, within: isPanel };
const missingAgents = ["claude", "codex", "pi", "acp"];

const unavailable: readonly Unavailable[] = [
  ...values(["agent", "type"], missingAgents, { byDefault: "claude", hint: useCommandAgent }),
  ...feature(["agent", "workflow"], "a workflow as the agent"),
  ...values(["agent", "sandbox"], ["bwrap"]),
  ...feature(["agent", "fallback"], "a fallback agent"),
  ...values(["tracker", "type"], ["github"]),
  ...values(["per_issue_review", "agent_sdk_agent", "type"], missingAgents, whenReviewed),
  ...values(["per_issue_review", "panel", "*", "agent_sdk_agent", "type"], missingAgents, whenPanel),
  {
    path: ["per_issue_review", "reviewer_type"],
    when: (value, root) => isReviewed(root) && value === "agent_sdk" && (review(root).agent_sdk_agent ?? null) === null,
    what: "agent_sdk without agent_sdk_agent, which means claude,",
    values: [],
    hint: useCommandReviewer,
    part: "review",
  },
  ...values(["finalize", "mode"], ["pr"], { hint: "finalize.mode may be merge or branch" }),
  ...feature(["pull_requests"], "the pull-request loop"),
  ...feature(["forge"], "a forge"),
  ...feature(["store", "url"], "another database"),
  ...feature(["convergence"], "ending loops by convergence"),
];

/** The list for the reference: `agent.type: claude, codex, pi, acp`. */
export function unavailableSettings(): string[] {
  const lines = unavailable
    .filter(({ what }) => what === null || !what.endsWith("(the default)"))
    .map(({ path, values: some }) => {
      const key = path.join(".").replace(".*", "[]");
      return some.length === 0 ? `\`${key}\`` : `\`${key}\`: ${some.join(", ")}`;
    });
  return [...new Set(lines)];
}

/** One error for each use of what is not available, at its place. */
export function refuseUnavailable(source: Source, disabled: ReadonlySet<Validation>): Diagnostic[] {
  return unavailable
    .filter(({ part }) => part === undefined || !disabled.has(part))
    .flatMap((entry) =>
      expand(source.root, entry.path)
        .filter((path) => entry.when(valueAt(source.root, path), source.root))
        .map((path) => {
          const message = `${entry.what ?? String(valueAt(source.root, path))} is not available yet`;
          return diagnosticAt(placeOf(source, path), { path, message, hint: entry.hint });
        }),
    );
}

function expand(root: unknown, path: Path): Path[] {
  const star = path.indexOf("*");
  if (star < 0) return [path];
  const list = valueAt(root, path.slice(0, star));
  return Array.isArray(list) ? list.map((_, index) => [...path.slice(0, star), index, ...path.slice(star + 1)]) : [];
}
