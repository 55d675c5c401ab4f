import type { IssueStatus } from "./record.js";

/**
 * What may be cleared away, decided from what is known and nothing else. A run goes as a whole or stays as a whole, and
 * it stays while anything could still need it: it is not over, it is young, work of it is neither landed nor parked, an
 * issue that is open would be resumed in its session, or an open finding needs it: a resume replays what its last review left.
 */
export interface GcData {
  readonly now: number;
  readonly retentionDays: number;
  readonly runs: readonly GcRun[];
  /** Run folders that no record belongs to, and when they were last changed: a crash came between the two. */
  readonly orphans: readonly { readonly path: string; readonly at: number }[];
  /** Runs that open findings point into, or whose record a resume reads for them. */
  readonly neededRuns: readonly string[];
  /** Landing worktrees that are there, by the run they belong to. */
  readonly landings: readonly { readonly runId: string; readonly path: string }[];
  /** Numbers that were given to worktrees. */
  readonly slots: readonly { readonly file: string; readonly worktree: string; readonly exists: boolean }[];
  /** null: the project has none yet. */
  readonly mirror: { readonly path: string; readonly checkouts: number; readonly pooled: number } | null;
}
export interface GcRun {
  readonly runId: string;
  readonly folder: string;
  /** Ms since the epoch; null: it is not over. */
  readonly endedAt: number | null;
  /** Its machine still owes something, or somebody drives it. */
  readonly unfinished: boolean;
  readonly issues: readonly GcIssue[];
}
export interface GcIssue {
  readonly issueId: string;
  readonly status: IssueStatus;
  readonly work: WorkState;
  /** The issue is open, and its last session is of this run. */
  readonly isResumable: boolean;
}
/** Where an issue's work stands: nowhere, on the landed line, parked, or in a branch or worktree alone. */
export type WorkState = "none" | "landed" | "parked" | "unlanded";

export type GcAction =
  | { readonly kind: "run"; readonly runId: string; readonly path: string }
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "landing"; readonly path: string }
  | { readonly kind: "slot"; readonly path: string; readonly worktree: string }
  /** Folders of removed worktrees that were kept for the next ones. */
  | { readonly kind: "pool"; readonly path: string; readonly folders: number }
  /** `prune`: objects that nothing reaches go, too, once they are as old as runs may get. */
  | { readonly kind: "mirror"; readonly path: string; readonly prune: boolean };

interface KeptRun {
  readonly runId: string;
  readonly why: string;
}

export interface GcPlan {
  readonly actions: readonly GcAction[];
  /** Old enough, but needed. */
  readonly kept: readonly KeptRun[];
}

const dayMs = 86_400_000;

/** Of one that is not, nothing needs to be known. */
export function isOld({ endedAt }: Pick<GcRun, "endedAt">, times: Pick<GcData, "now" | "retentionDays">): boolean {
  return endedAt !== null && endedAt < oldestOf(times);
}

function oldestOf({ now, retentionDays }: Pick<GcData, "now" | "retentionDays">): number {
  return now - retentionDays * dayMs;
}

export function planGc(data: GcData): GcPlan {
  const oldest = oldestOf(data);
  const judged = data.runs
    .filter((run) => run.unfinished || isOld(run, data))
    .map((run) => ({ run, why: whyKept(run, data) }));
  const living = new Set(data.runs.filter(({ unfinished }) => unfinished).map(({ runId }) => runId));
  const gone = judged.filter(({ why }) => why === null).map(({ run }) => run);
  return {
    actions: [
      ...gone.map(({ runId, folder }) => ({ kind: "run", runId, path: folder }) as const),
      ...data.orphans.filter(({ at }) => at < oldest).map(({ path }) => ({ kind: "folder", path }) as const),
      ...data.landings.flatMap(({ runId, path }) => (living.has(runId) ? [] : [{ kind: "landing", path } as const])),
      ...data.slots.flatMap(({ file, worktree, exists }) =>
        exists ? [] : [{ kind: "slot", path: file, worktree } as const],
      ),
      ...mirrorActions(data, living.size > 0),
    ],
    kept: judged.flatMap(({ run, why }) => (why === null ? [] : [{ runId: run.runId, why }])),
  };
}

function whyKept(run: GcRun, { neededRuns }: GcData): string | null {
  if (run.unfinished || run.endedAt === null) return "it is not over";
  const open = run.issues.find(({ status }) => status === "running");
  if (open) return `${open.issueId} is not over`;
  const unlanded = run.issues.find(({ status, work }) => status !== "success" && work === "unlanded");
  if (unlanded) return `${unlanded.issueId} has work that has neither landed nor been parked`;
  const resumable = run.issues.find(({ isResumable }) => isResumable);
  if (resumable) return `${resumable.issueId} is open: a resume goes on with its session`;
  return neededRuns.includes(run.runId) ? "open findings point into it" : null;
}

/** While somebody works nothing is packed, and what is kept for the next worktree stays. A checkout may borrow what no ref names: with one there, nothing is pruned. */
function mirrorActions({ mirror, landings }: GcData, isBusy: boolean): GcAction[] {
  if (mirror === null || isBusy) return [];
  const { path, checkouts, pooled } = mirror;
  const pool = pooled === 0 ? [] : [{ kind: "pool", path, folders: pooled } as const];
  return [...pool, { kind: "mirror", path, prune: checkouts <= landings.length }];
}
