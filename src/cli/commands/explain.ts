import type { Project, Store } from "../../app.js";
import { plainText } from "../../core/plain-text.js";
import type { Issue, Standing, Tracker } from "../../core/ports/tracker.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import type { IssueRecord } from "../../core/record.js";
import { mayLiveAgain } from "../../core/run/live-again.js";
import { livesMaxOf } from "../../core/run/policy.js";
import { endingReason } from "../../core/tracker-endings.js";
import { ExternalError, Refusal, type UserError } from "../../lib/errors.js";
import {
  type Explanation,
  explain,
  type IssueFacts,
  type PullRequestFacts,
  type RunFacts,
  renderExplanation,
  type UntoldFacts,
} from "../../views/explain.js";
import { explainUnasked } from "../../views/explain-unasked.js";
import { type ForeignTracker, foreignHint, foreignName, foreignOf } from "../../views/foreign-tracker.js";
import type { Neighbour } from "../../views/neighbours.js";
import { pullRequestWait } from "../../views/pull-request-wait.js";
import { type LookedUp, lookUpTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";
import { epicFacts } from "../epic-facts.js";
import { errorJson, tellError } from "../errors.js";
import { lackingOf } from "../lacking.js";
import { findLife } from "../life.js";
import { typed } from "../typed.js";

interface Board extends LookedUp {
  readonly store: Store;
  readonly project: Project;
}

/** The exact reason why an issue is or is not running. Looks only; a configuration that does not hold is no obstacle. */
export async function explainIssue(
  context: Context,
  id: string,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { out } = context;
  const board = await openBoard(context);
  try {
    const told = await explanationOf(context, board, id);
    if (json) out.json(told);
    else for (const line of renderExplanation(told)) out.line(line);
    return 0;
  } catch (error) {
    if (!(error instanceof ExternalError) || error.what !== "tracker") throw error;
    const known = await knownHere(context, board, id);
    if (known === null) throw error;
    const told = tellError(error, "tracker");
    if (json) out.json({ ...known, error: errorJson(told) });
    else for (const line of renderExplanation(known)) out.line(line);
    if (!json) out.note(plainText(`this is what its runs have left; its tracker cannot be asked: ${error.message}`));
    return told.exit;
  }
}

async function explanationOf(context: Context, board: Board, id: string): Promise<Explanation> {
  const issue = await readIssue(board, id);
  if (issue === null) throw notFound(board, id);
  return explain({ ...(await gather(context, board, issue)), lacking: await lackingBy(context, board, issue) });
}

/** Without the tracker's word: its life, or what the last one came to. null: nothing is known of it here. */
async function knownHere({ app }: Context, board: Board, issueId: string): Promise<Explanation | null> {
  const kind = foreignKind(board.tracker);
  if (kind === null) return null;
  const { project, store } = board;
  const told = await app.untold(board.tracker?.kind ?? "local");
  return explainUnasked({
    issueId,
    life: await findLife(app, project.id, issueId),
    last: await store.lastRecord(project.id, issueId),
    untold: told.filter((one) => one.issueId === issueId).map(({ op }) => op),
    tracker: kind,
  });
}

/** The same for several at once; one that is gone meanwhile is left out. */
export async function explanationsOf(context: Context, ids: readonly string[]): Promise<Explanation[]> {
  const board = await openBoard(context);
  const told: Explanation[] = [];
  for (const id of ids) {
    const issue = await readIssue(board, id);
    if (issue !== null) told.push(explain(await gather(context, board, issue)));
  }
  return told;
}

async function openBoard(context: Context): Promise<Board> {
  const { app } = context;
  return { project: await app.project(), store: await app.store(), ...(await lookUpTracker(context)) };
}

function notFound({ project, tracker, untracked }: Board, id: string): Refusal | UserError {
  if (untracked) return untracked;
  const kind = foreignKind(tracker);
  if (kind === null) {
    const hint = "ratchet work list --all shows the issues; ratchet work add makes one";
    return new Refusal(`${typed(id)} is not on the board of ${project.id}`, { code: "not-found", hint });
  }
  const asked = `${typed(id)} is no issue in ${foreignName(kind)}, and not on the board of ${project.id}`;
  return new Refusal(asked, { code: "not-found", hint: `${foreignHint(kind, "list")}; ratchet pr list` });
}

function foreignKind(tracker: Tracker | null): ForeignTracker | null {
  return tracker === null ? null : foreignOf(tracker);
}

type Known = Issue &
  Partial<Pick<WorkItem, "source" | "claimedBy" | "leaseUntil" | "failureCount" | "failureReason" | "updatedAt">>;

async function readIssue({ store, project, tracker }: Board, id: string): Promise<Known | null> {
  return (await tracker?.get(id)) ?? (await store.workItems.get(project.id, id));
}

/** Of an issue that is the tracker's: what comes out of a pull request is on our own board. */
async function standingOf({ tracker }: Board, { id, source }: Known): Promise<Standing | null> {
  return source === undefined ? ((await tracker?.standing?.(id)) ?? null) : null;
}

async function gather(context: Context, board: Board, issue: Known): Promise<IssueFacts> {
  const { id, type, status } = issue;
  const { store, project } = board;
  const last = await store.lastRecord(project.id, id);
  const standing = await standingOf(board, issue);
  const ancestors = await ancestorsOf(board, issue);
  return {
    issueId: id,
    type,
    status,
    claimedBy: issue.claimedBy ?? standing?.claim?.holder ?? null,
    leaseUntil: issue.leaseUntil ?? null,
    failureCount: issue.failureCount ?? 0,
    failureReason: issue.source === undefined ? reasonOf(issue, last?.record ?? null) : (issue.failureReason ?? null),
    ancestors,
    deps: await Promise.all(issue.deps.map(async (dep) => toNeighbour(dep, await readIssue(board, dep)))),
    children: type === "epic" ? await childrenOf(board, id) : [],
    stoppedIn: last?.record.status === "interrupted" ? last.runId : null,
    life: await findLife(context.app, project.id, id),
    runs: await runsFor(context, board, issue),
    ahead: await countAhead(board, id),
    tracker: foreignKind(board.tracker),
    standing,
    pullRequest: await pullRequestOf(context, board, id),
    untold: await untoldOf(context, board, issue),
    epic:
      type === "epic" && status !== "completed"
        ? await epicFacts(context.app, { projectId: project.id, epic: id, ancestors })
        : null,
    unmerged: await unmergedOf(context, board, issue),
  };
}

/** Asked of what has failed, by what came of it last. */
async function lackingBy({ app }: Context, { store, project }: Board, { id, status }: Known) {
  const last = status === "failed" || status === "quarantined" ? await store.lastRecord(project.id, id) : null;
  if (last === null) return null;
  const { record, runId } = last;
  const { target_branch: target } = (await store.run(runId)).record;
  return await lackingOf(app, { ...record, worktree: record.worktree_path }, { repoPath: project.repoPath, target });
}

const sameAs: Partial<Record<Known["status"], IssueRecord["status"]>> = {
  failed: "failed",
  waiting_for_response: "escalated",
};

/** Another tracker has it in a note among others: the record tells it, where what came of the issue last is still so. */
function reasonOf({ status }: Known, record: IssueRecord | null): string | null {
  return record !== null && record.status === sameAs[status] ? endingReason(record) : null;
}

/** An epic is completed with its issues, whatever they are done on. */
async function unmergedOf({ app }: Context, { settings, tracker }: Board, { id, type, deps }: Known) {
  if (settings === null) return [];
  return await app.unmerged(settings, type === "epic" ? [id] : deps, tracker ?? undefined);
}

const endings = {
  complete: "completed",
  fail: "failed",
  escalate: "escalated",
  release: "free",
  pass: "in a pull request",
  "give-back": null,
  "follow-up": null,
} as const;

/** The last that a run came to. */
async function untoldOf({ app }: Context, { tracker }: Board, { id, source }: Known): Promise<UntoldFacts | null> {
  if (source !== undefined && tracker !== null) return null;
  const all = await app.untold(tracker?.kind ?? "local");
  // Of a claim that may never have been made the tracker itself knows more.
  const isEnding = (told: (typeof all)[number]) => endings[told.op] !== null && !(told.op === "release" && told.unsure);
  const last = all.findLast((told) => told.issueId === id && isEnding(told));
  const ending = last === undefined ? null : endings[last.op];
  if (last === undefined || ending === null) return null;
  return { runId: last.holder, ending, commit: last.op === "complete" ? last.commit : null };
}

/** On our own board, whatever the tracker. */
async function pullRequestOf({ app }: Context, board: Board, id: string): Promise<PullRequestFacts | null> {
  const { store, project } = board;
  const item = await store.workItems.get(project.id, id);
  const { pr_number: number, pr_url: url = "", implementation_work_item_id: issueId = id } = item?.payload ?? {};
  // One that was closed meanwhile keeps nobody waiting.
  if (item?.status !== "waiting_for_response" || number === undefined) return null;
  const isIssue = item.payload?.source === "implement";
  const needsPerson = isIssue
    ? item.payload?.human_review_required
      ? (item.payload.escalation_reason ?? "it was escalated")
      : null
    : item.failureReason;
  if (needsPerson !== null) return { number, url, issueId, needsPerson };
  const state = await app.pullRequestState(project.id, number);
  const items = await store.workItems.ofPullRequest(project.id, number);
  const wait = pullRequestWait({ number, state, items, foreign: foreignKind(board.tracker) !== null });
  return { number, url, issueId, needsPerson, wait };
}

function toNeighbour(id: string, issue: Issue | null): Neighbour {
  return { id, status: issue?.status ?? null };
}

async function ancestorsOf(board: Board, issue: Issue): Promise<string[]> {
  const found: string[] = [];
  for (let parent = issue.parent; parent !== null && !found.includes(parent); ) {
    found.push(parent);
    parent = (await readIssue(board, parent))?.parent ?? null;
  }
  return found;
}

/** What helps an epic in it is what helps that one's issues: where some are open they take its place. */
async function childrenOf({ store, project, tracker }: Board, epic: string): Promise<Neighbour[]> {
  const of = async (id: string): Promise<readonly Issue[]> =>
    tracker ? ((await tracker.epics?.children(id)) ?? []) : await store.workItems.childrenOf(project.id, id);
  const seen = new Set<string>();
  const below = async (id: string): Promise<Neighbour[]> => {
    // Whoever linked two epics as each other's child gets an end all the same.
    if (seen.has(id)) return [];
    seen.add(id);
    const found: Neighbour[] = [];
    for (const { id: child, type, status } of await of(id)) {
      const own = type === "epic" && status !== "completed" ? (await below(child)).filter(isUnfinished) : [];
      if (own.length > 0) found.push(...own);
      else found.push({ id: child, status, ...(type === "epic" ? { isEpic: true } : {}) });
    }
    return found;
  };
  return await below(epic);
}

function isUnfinished({ status }: Neighbour): boolean {
  return status !== "completed";
}

async function countAhead({ store, project, tracker }: Board, id: string): Promise<number> {
  const query = { scope: { type: "all" }, resume: false, limit: 1000 } as const;
  const ready = await (tracker?.ready(query) ??
    store.workItems.ready({ ...query, projectId: project.id, now: Date.now() }));
  return Math.max(
    0,
    ready.findIndex((one) => one.id === id),
  );
}

async function runsFor({ app }: Context, { store, project }: Board, issue: Known): Promise<RunFacts[]> {
  const unfinished = await store.unfinishedRuns(project.id);
  const changed = { status: issue.status, changedAt: issue.changedAt ?? issue.updatedAt ?? 0 };
  const isRetried = () => store.workItems.isRetried(project.id, issue.id);
  // A run that is a workflow takes no issues.
  const takers = unfinished.filter(({ run }) => run.options.workflow === undefined);
  return await Promise.all(
    takers.map(async ({ run, driverAlive }): Promise<RunFacts> => {
      const state = await app.runState(run.runId);
      const { scope, resume, maxIssues } = run.options;
      const had = async (id: string) => (await store.issueRecord(run.runId, id))?.record ?? null;
      return {
        runId: run.runId,
        driverAlive,
        scope,
        resume,
        ending: state !== null && (state.draining || state.stopping || state.aborting || state.closed),
        full: maxIssues !== null && (state?.started ?? 0) >= maxIssues,
        remaining: maxIssues === null ? null : Math.max(0, maxIssues - (state?.started ?? 0)),
        hadIt: !(await mayLiveAgain(changed, await had(issue.id), isRetried)),
        madeIt:
          (await app.followUpsOf(run.runId)).includes(issue.id) ||
          (issue.followUpOf != null && (await had(issue.followUpOf)) !== null),
        stopped: await store.workItems.isStopped(project.id, issue.id, run.runId),
        endedIn: await store.endedElsewhere({ projectId: project.id, issueId: issue.id, runId: run.runId }),
        maxAgents: run.settings.max_agents,
        unfinishedMost: (state?.children.length ?? 0) < livesMaxOf(run.settings) ? null : livesMaxOf(run.settings),
      };
    }),
  );
}
