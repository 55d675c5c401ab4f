import { readFile, rm, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { Finding } from "../core/finding.js";
import { type GcAction, type GcData, type GcIssue, type GcPlan, type GcRun, isOld, planGc } from "../core/gc.js";
import type { ItemStatus } from "../core/ports/tracker.js";
import type { IssueRecord, RunRecord } from "../core/record.js";
import { emptyPool, listPool } from "../git/checkout/pool.js";
import { removeLandingWorktree } from "../git/landing/land.js";
import type { Mirror } from "../git/mirror/mirror.js";
import { packMirror } from "../git/mirror/pack.js";
import { removeTree } from "../git/remove-tree.js";
import { listWorktrees } from "../git/worktree/worktree.js";
import { exists, namesIn } from "../lib/files.js";
import { withLock } from "../lib/lock.js";
import { landingName } from "./perform/land.js";
import { giveBackSlotNumber } from "./perform/slot-number.js";
import { openProjectMirror, type ProjectMirror } from "./project-mirror.js";
import { openWorktrees } from "./worktrees.js";

/** What clearing away needs to know; app.ts brings it from the store. */
export interface GcParts extends ProjectMirror {
  readonly retentionDays: number;
  readonly now: number;
  readonly store: GcStore;
  /** Another tracker says that an issue of its own is done; asked only where it decides. */
  readonly isClosed: (issueId: string) => Promise<boolean>;
}

/** What it asks of the store. */
interface GcStore {
  runs(projectId: string | null, limit: number): Promise<readonly KnownRun[]>;
  unfinishedRuns(projectId: string): Promise<readonly { readonly run: { readonly runId: string } }[]>;
  issueRecords(runId: string): Promise<readonly { readonly issueId: string; readonly record: IssueRecord }[]>;
  pastLives(projectId: string, issueId: string): Promise<{ readonly inSession: KnownIssue | null }>;
  readonly workItems: { get(projectId: string, id: string): Promise<{ readonly status: ItemStatus } | null> };
  findings(query: { readonly projectId: string; readonly all: boolean }): Promise<readonly Finding[]>;
  /** False: it is not over after all. */
  deleteRun(runId: string): Promise<boolean>;
}
interface KnownRun {
  readonly runId: string;
  readonly record: Omit<RunRecord, "issues">;
}
interface KnownIssue {
  readonly runId: string;
  readonly record: IssueRecord;
}
const everyRun = 1_000_000;

export interface Gc {
  readonly plan: GcPlan;
  perform(): Promise<void>;
}

export async function openGc(parts: GcParts): Promise<Gc> {
  const mirrorPath = parts.home.mirror(parts.projectId);
  const mirror = (await exists(mirrorPath)) ? await openProjectMirror(parts) : null;
  const plan = planGc(await gather(parts, mirror));
  return {
    plan,
    perform: async () => {
      for (const action of plan.actions) await performOne(parts, action, mirror);
    },
  };
}

async function gather(parts: GcParts, mirror: Mirror | null): Promise<GcData> {
  const { home, projectId, store } = parts;
  const isOver = onceEach((issueId) => isIssueOver(parts, issueId));
  const runs = await runsOf(parts, isOver);
  const old = new Set(runs.filter((run) => isOld(run, parts)).map(({ runId }) => runId));
  const open = await store.findings({ projectId, all: false });
  const texts = open.flatMap((one) => [one, ...(one.also_reported ?? [])]).flatMap(({ body }) => body.ref?.path ?? []);
  const replayed: string[] = [];
  for (const { source, run_id, issue_id } of open) {
    if (source === "review" && old.has(run_id) && !(await isOver(issue_id))) replayed.push(run_id);
  }
  return {
    now: parts.now,
    retentionDays: parts.retentionDays,
    runs,
    orphans: await orphansIn(parts),
    neededRuns: [...replayed, ...texts.map((path) => relative(home.run(""), path).split(sep)[0] ?? "")],
    landings: await landingsIn(dirname(home.worktree(projectId, "_"))),
    slots: await slotsIn(join(home.root, "slots")),
    mirror: mirror && {
      path: mirror.path,
      checkouts: (await listWorktrees(mirror)).length,
      pooled: (await listPool(mirror)).length,
    },
  };
}

/** Where an issue's work stands is asked once, however many runs it was in. */
async function runsOf(parts: GcParts, isOver: IsOver): Promise<GcRun[]> {
  const { home, projectId, store } = parts;
  const { work } = openWorktrees(parts);
  const workOf = onceEach((issueId, target: string) => work(issueId, target));
  const unfinished = new Set((await store.unfinishedRuns(projectId)).map(({ run }) => run.runId));
  const runs: GcRun[] = [];
  for (const { runId, record } of await store.runs(projectId, everyRun)) {
    const ended = Date.parse(record.completed_at ?? "");
    const run = {
      ...{ runId, folder: home.run(runId), unfinished: unfinished.has(runId) },
      endedAt: Number.isNaN(ended) ? null : ended,
    };
    const issues: GcIssue[] = [];
    for (const { issueId, record: own } of await store.issueRecords(runId)) {
      const { status } = own;
      issues.push({
        issueId,
        status,
        work: status === "success" ? "landed" : await workOf(issueId, record.target_branch),
        isResumable:
          own.session_id != null &&
          isOld(run, parts) &&
          (await isSessionOf(parts, runId, issueId)) &&
          !(await isOver(issueId)),
      });
    }
    runs.push({ ...run, issues });
  }
  return runs;
}

type IsOver = (issueId: string) => Promise<boolean>;

function onceEach<Rest extends string[], T>(
  ask: (issueId: string, ...rest: Rest) => Promise<T>,
): (issueId: string, ...rest: Rest) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (...asked) => {
    const key = asked.join(" ");
    const found = known.get(key) ?? ask(...asked);
    known.set(key, found);
    return found;
  };
}

/** The run whose session a resume of the issue would go on with. */
async function isSessionOf({ projectId, store }: GcParts, runId: string, issueId: string): Promise<boolean> {
  return (await store.pastLives(projectId, issueId)).inSession?.runId === runId;
}

/** Completed on the board; what is not there is another tracker's, where a person may have closed it, or not there yet. */
async function isIssueOver({ projectId, store, isClosed }: GcParts, issueId: string): Promise<boolean> {
  const item = await store.workItems.get(projectId, issueId);
  if (item !== null) return item.status === "completed";
  const { inSession } = await store.pastLives(projectId, issueId);
  return inSession?.record.status === "success" || (await isClosed(issueId));
}

async function landingsIn(folder: string): Promise<GcData["landings"]> {
  const prefix = landingName("");
  const names = namesIn(folder).filter((name) => name.startsWith(prefix));
  return names.map((name) => ({ runId: name.slice(prefix.length), path: join(folder, name) }));
}

/** Listed before the records are asked for: a run that begins meanwhile is known by then, or too young. */
async function orphansIn({ home, store }: GcParts): Promise<GcData["orphans"]> {
  const names = namesIn(home.run(""));
  const known = new Set((await store.runs(null, everyRun)).map(({ runId }) => runId));
  const paths = names.filter((name) => !known.has(name)).map((name) => home.run(name));
  return await Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
}

async function slotsIn(folder: string): Promise<GcData["slots"]> {
  const files = namesIn(folder).map((name) => join(folder, name));
  return await Promise.all(
    files.map(async (file) => {
      const worktree = await readFile(file, "utf8");
      return { file, worktree, exists: await exists(worktree) };
    }),
  );
}

/** The database first: a folder that is left over is found again, a record without its folder would point nowhere. */
async function performOne(parts: GcParts, action: GcAction, mirror: Mirror | null): Promise<void> {
  switch (action.kind) {
    case "run":
      if (await parts.store.deleteRun(action.runId)) await removeTree(action.path);
      return;
    case "folder":
      return await removeTree(action.path);
    case "landing":
      await withLock(join(parts.home.root, "locks", "landings"), async () => {
        if (mirror) await removeLandingWorktree(mirror, action.path);
        await rm(action.path, { recursive: true, force: true });
        giveBackSlotNumber(parts.home.root, action.path);
      });
      return;
    case "slot":
      return await rm(action.path, { force: true });
    case "pool":
      if (mirror) await emptyPool(mirror);
      return;
    case "mirror": {
      const pruneBefore = parts.now / 1000 - parts.retentionDays * 86_400;
      return await packMirror(action.path, action.prune ? pruneBefore : null);
    }
  }
}
