import { isRunSource } from "../core/follow-up.js";
import { plainLine } from "../core/plain-text.js";
import type { Tracker } from "../core/ports/tracker.js";
import { trackerEndings } from "../core/tracker-endings.js";

/** What a tracker is still to be told, as `status --json` and `doctor --json` have it. */
export interface UntoldJson {
  readonly tracker: Tracker["kind"];
  readonly project_id: string;
  /** null: it is about the run itself. */
  readonly issue_id: string | null;
  readonly op: keyof typeof trackerEndings;
  readonly run_id: string;
  readonly since: string;
}

interface Owed {
  readonly tracker: Tracker["kind"];
  readonly projectId: string;
  /** Ms since the epoch. */
  readonly since: number;
  readonly telling: { readonly issueId: string; readonly holder: string; readonly op: keyof typeof trackerEndings };
}

export function toUntold({ tracker, projectId, since, telling }: Owed): UntoldJson {
  const { issueId, op, holder } = telling;
  const issue_id = isRunSource(issueId) ? null : issueId;
  return { tracker, project_id: projectId, issue_id, op, run_id: holder, since: new Date(since).toISOString() };
}

const names = { local: "the board", beads: "beads", github: "GitHub" } as const;
const listed = 3;

/** One line for each tracker of each project. `named`: the reader is in none of these projects. */
export function untoldLines(untold: readonly UntoldJson[], { named = false } = {}): string[] {
  const places = new Map<string, UntoldJson[]>();
  for (const one of untold) {
    const place = `${names[one.tracker]}${named ? ` of ${one.project_id}` : ""}`;
    places.set(place, [...(places.get(place) ?? []), one]);
  }
  return [...places].map(([place, owed]) => {
    const told = owed.slice(0, listed).map(({ issue_id, op, run_id }) => {
      return `${issue_id === null ? `run ${run_id}` : issue_id} ${trackerEndings[op]}`;
    });
    const more = owed.length > listed ? ` and ${owed.length - listed} more` : "";
    const what = `${told.join(", ")}${more}`;
    return plainLine(`${place} has not been told since ${owed[0]?.since} that ${what}; ${untoldAdvice}`);
  });
}

const untoldAdvice = "the next `ratchet run` tells it first";
