import { type OnBranch, unmergedReason } from "../core/not-ready.js";
import type { Cause } from "./explanation.js";
import { type ForeignTracker, foreignHint } from "./foreign-tracker.js";
import { plural } from "./format.js";
import { listOf, type Neighbour } from "./neighbours.js";
import { shellWord } from "./shell-word.js";

/** What is known of an epic's own end: it is verified and completed, never run. */
export interface EpicFacts {
  /** The run that verifies it, or will when its triggers before that are over. */
  readonly verifier: { readonly runId: string; readonly driverAlive: boolean; readonly isAtIt: boolean } | null;
  /** How often it was verified and did not pass, in the runs that are still known. */
  readonly inVain: number;
  readonly openFindings: number;
  /** Findings of its verification that a person has waived. */
  readonly waived?: number;
  /** A living run that looks for epics like it and has not verified it yet. */
  readonly looker: string | null;
}

interface Epic {
  readonly issueId: string;
  /** Of an epic in it that has open issues, these take its place. */
  readonly children: readonly Neighbour[];
  readonly deps?: readonly Neighbour[];
  readonly tracker?: ForeignTracker | null;
  /** Of its issues, and of what it depends on, what is done and not in the target yet. */
  readonly unmerged?: readonly OnBranch[];
}

export function causeOfEpic(
  { issueId, children, deps = [], tracker = null, unmerged = [] }: Epic,
  { verifier, inVain, openFindings, waived = 0, looker }: EpicFacts,
): Cause {
  const open = children.filter(({ status }) => status !== "completed");
  const next = `ratchet run --scope epic:${shellWord(issueId)}`;
  if (children.length === 0) {
    const reason = "it is an epic, which is never run itself, and it has no issues";
    const more = tracker === null ? `; ratchet work add --parent ${shellWord(issueId)} gives it one` : "";
    return { reason: `${reason}${more}`, next: completing(issueId, tracker) };
  }
  if (verifier !== null) return causeOfVerifier(verifier);
  const vain = inVain === 0 ? "" : `; it was verified ${plural(inVain, "time")} in vain`;
  const found = openFindings === 0 ? vain : `${vain}; ${plural(openFindings, "finding")} of its verification open`;
  const before = deps.filter(({ status }) => status !== "completed");
  const [first] = before;
  const waits = first === undefined ? "" : `; it waits for ${listOf(before)}`;
  if (open.length > 0) {
    const reason = `it is an epic, which is never run itself; of its issues ${listOf(open)} ${open.length === 1 ? "is" : "are"} not completed`;
    return {
      reason: `${reason}${waits}${found}`,
      blockers: [...open, ...before].map(({ id }) => id),
      next: nextFor(open, { issueId, tracker }),
    };
  }
  const done = "it is an epic whose issues are all completed";
  if (first !== undefined) {
    const blockers = before.map(({ id }) => id);
    return { reason: `${done}${waits}${found}`, blockers, next: `ratchet explain ${shellWord(first.id)}` };
  }
  if (unmerged.length > 0) return causeOfUnmerged(unmerged, `${done}${found}; `);
  if (looker !== null) {
    return {
      reason: `${done}${found}; run ${looker} sees to it when it has nothing else to start`,
      next: "ratchet status",
    };
  }
  if (found === "") return { reason: done, next };
  // A verification that says no for what a person has accepted says so again and again.
  if (openFindings === 0 && waived > 0) {
    const settled = `${plural(waived, "finding")} of its verification waived`;
    return { reason: `${done}${found}; ${settled}`, next: completing(issueId, tracker) };
  }
  const look = openFindings === 0 ? next : `ratchet findings ${shellWord(issueId)}`;
  return { reason: `${done}${found}; the next run verifies it again`, next: look };
}

/** In mode branch nothing starts from work that is not in the target yet, and no epic is completed without it. */
export function causeOfUnmerged(unmerged: readonly OnBranch[], before = ""): Cause {
  const blockers = unmerged.map(({ id }) => id);
  const next = `ratchet land ${shellWord(blockers[0] ?? "")}`;
  return { reason: `${before}${unmerged.map(unmergedReason).join(", ")}`, blockers, next };
}

/** What brings the unfinished issues on; a plain run leaves failed ones, and those that wait for a person, alone. */
function nextFor(
  open: readonly Neighbour[],
  { issueId, tracker }: Required<Pick<Epic, "issueId" | "tracker">>,
): string {
  const scope = `--scope epic:${shellWord(issueId)}`;
  if (open.some(({ status }) => status === "failed")) return `ratchet run --resume ${scope}`;
  const [first] = open;
  if (first === undefined || open.some((one) => !isLeftAlone(one))) return `ratchet run ${scope}`;
  // Its pull request, an escalation or a block: what helps there, its own explanation says.
  if (first.status !== "quarantined") return `ratchet explain ${shellWord(first.id)}`;
  return tracker === null ? `ratchet retry ${shellWord(first.id)}` : foreignHint(tracker, "retry", first.id);
}

/** An epic whose own issues are done may wait for something, or have none. */
function isLeftAlone({ status, isEpic }: Neighbour): boolean {
  return isEpic === true || status === "waiting_for_response" || status === "quarantined" || status === "blocked";
}

function completing(epic: string, tracker: ForeignTracker | null): string {
  return tracker === null ? `ratchet work complete ${shellWord(epic)}` : foreignHint(tracker, "complete", epic);
}

function causeOfVerifier({ runId, driverAlive, isAtIt }: NonNullable<EpicFacts["verifier"]>): Cause {
  if (!driverAlive) {
    const what = isAtIt ? "which was verifying it" : "which was to verify it";
    return { reason: `the process of run ${runId}, ${what}, is gone`, next: "ratchet run" };
  }
  if (isAtIt) return { running: true, reason: `run ${runId} verifies it now`, next: null };
  return { reason: `run ${runId} verifies it when its triggers before that are over`, next: "ratchet status" };
}
