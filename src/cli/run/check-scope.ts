import type { Project, Store } from "../../app.js";
import { isCaredFor } from "../../core/cared-for.js";
import type { Issue, Tracker } from "../../core/ports/tracker.js";
import type { Settings } from "../../core/settings.js";
import { Refusal, UserError } from "../../lib/errors.js";

import { foreignHint, foreignName } from "../../views/foreign-tracker.js";
import { pullRequestWait } from "../../views/pull-request-wait.js";
import { shellWord } from "../../views/shell-word.js";
import { openTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";
import { typed } from "../typed.js";
import { findWaits } from "./find-waits.js";
import { isLeft } from "./left-runs.js";
import type { Wanted } from "./request.js";

interface Board {
  readonly store: Store;
  readonly project: Project;
  readonly tracker: Tracker;
  readonly app: Context["app"];
  readonly settings: Settings;
  /** The runs that are continued first. */
  readonly left: readonly string[];
}

export interface Checked {
  /** Named issues that cannot start now, and that no run works on or has done. */
  readonly stuck: readonly string[];
  /** Nothing was named that can start. */
  readonly isEmpty: boolean;
}

const anything: Checked = { stuck: [], isEmpty: false };

/** Ids that do not exist are refused; those that cannot start now are told, one line each, with the reason. */
export async function checkScope(context: Context, wanted: Wanted, settings: Settings): Promise<Checked> {
  const { scope } = wanted;
  if (scope.type !== "ids" && scope.type !== "epic") return anything;
  const board = await openBoard(context, { settings, tracker: await openTracker(context, settings) });
  const issues = await readAll(board, scope.type === "ids" ? scope.ids : [scope.epic]);
  if (scope.type === "epic") {
    await requireEpic(board, issues[0]);
    return anything;
  }
  const found = await findUnready(board, issues, wanted);
  for (const one of found) tell(context, one);
  const stuck = found.flatMap(({ id, isStuck }) => (isStuck ? [id] : []));
  return { stuck, isEmpty: found.length === issues.length };
}

/** What is named and stays undone where no run starts; false: nothing. */
export async function tellStuck(context: Context, wanted: Wanted, asked: Asked): Promise<boolean> {
  if (wanted.scope.type !== "ids") return false;
  const board = await openBoard(context, asked);
  const found = await findUnready(board, await readAll(board, wanted.scope.ids), wanted);
  const stuck = found.filter(({ isStuck }) => isStuck);
  for (const one of stuck) tell(context, one);
  return stuck.length > 0;
}

type Asked = Pick<Board, "settings" | "tracker">;

async function openBoard({ app }: Context, asked: Asked): Promise<Board> {
  const [project, store] = [await app.project(), await app.store()];
  const left = (await store.unfinishedRuns(project.id)).filter(isLeft).map(({ run }) => run.runId);
  return { app, project, store, left, ...asked };
}

interface Unready {
  readonly id: string;
  readonly reason: string;
  /** No run works on it or has done it. */
  readonly isStuck: boolean;
}

async function findUnready(board: Board, issues: readonly Issue[], wanted: Wanted): Promise<Unready[]> {
  const reasons = await findReasons(board, issues, wanted);
  const { tracker, store, project } = board;
  const around = { tracker, board: store.workItems, projectId: project.id };
  const found: Unready[] = [];
  for (const issue of issues) {
    const reason = reasons.get(issue.id);
    if (reason !== undefined) found.push({ id: issue.id, reason, isStuck: !(await isCaredFor(around, issue)) });
  }
  return found;
}

function tell({ out }: Context, { id, reason }: Unready): void {
  out.note(`${id} is not ready: ${reason}`);
}

async function findReasons(board: Board, issues: readonly Issue[], wanted: Wanted): Promise<Map<string, string>> {
  const against = new Map<string, string>();
  for (const issue of issues) {
    const reason = (await reasonAgainst(board, issue, wanted)) ?? (await nothingToCheck(board, issue, wanted));
    if (reason !== null) against.set(issue.id, reason);
  }
  return new Map([...against, ...(await findWaits(board, issues, against))]);
}

/** Below an issue that nothing is below there is nothing to run. Some trackers have issues below issues of any kind. */
async function requireEpic({ tracker }: Board, issue: Issue | undefined): Promise<void> {
  if (issue === undefined || issue.type === "epic") return;
  if (((await tracker.epics?.children(issue.id)) ?? []).length > 0) return;
  const { id } = issue;
  throw new UserError(`${id} is an issue, not an epic`, {
    code: "not-an-epic",
    hint: `ratchet run ${shellWord(id)} runs it`,
  });
}

async function readAll({ tracker, project }: Board, ids: readonly string[]): Promise<Issue[]> {
  const found: Issue[] = [];
  const unknown: string[] = [];
  for (const id of ids) {
    const issue = await tracker.get(id);
    if (issue === null) unknown.push(id);
    else found.push(issue);
  }
  if (unknown.length === 0) return found;
  const { kind } = tracker;
  const place = kind === "local" ? project.id : foreignName(kind);
  const hint =
    kind === "local" ? "ratchet work list shows the issues; ratchet work add makes one" : foreignHint(kind, "list");
  throw new Refusal(`no issue ${unknown.map(typed).join(", ")} in ${place}`, { code: "not-found", hint });
}

async function reasonAgainst(board: Board, issue: Issue, wanted: Wanted): Promise<string | null> {
  const { id, status, type } = issue;
  const { kind } = board.tracker;
  if (type === "epic") return `it is an epic, use --scope epic:${id}`;
  const use = (change: "retry" | "unblock") =>
    kind !== "local"
      ? foreignHint(kind, change, id)
      : change === "retry"
        ? `use ratchet retry ${id}`
        : `use ratchet work unblock ${id}`;
  switch (status) {
    case "completed":
      return "completed";
    case "failed":
      return wanted.resume
        ? await obstacleOf(board, id)
        : `failed, use --resume or ${use("retry").replace(/^use /, "")}`;
    case "claimed":
      return await claimOf(board, issue, wanted);
    case "blocked":
      return `blocked${await becauseOf(board, id)}, ${use("unblock")}`;
    case "waiting_for_response": {
      const inPullRequest = await pullRequestOf(board, id, wanted);
      return inPullRequest === undefined ? `${status}, ${use("retry")}` : inPullRequest;
    }
    case "quarantined":
      return `${status}, ${use("retry")}`;
    case "available":
      return await obstacleOf(board, id);
  }
}

/** Where no agent starts, there must be something that an earlier life has left. */
async function nothingToCheck({ store, project }: Board, { id }: Issue, { only }: Wanted): Promise<string | null> {
  if (only !== "check" || (await store.lastRecord(project.id, id)) !== null) return null;
  return "nobody has worked on it yet, so there is nothing to check";
}

/** What its pull request waits for; null: for this run, which takes an item of it. undefined: it is in none, or needs a person. */
async function pullRequestOf(
  { app, store, project, tracker }: Board,
  id: string,
  { resume }: Wanted,
): Promise<string | null | undefined> {
  const { payload } = (await store.workItems.get(project.id, id)) ?? {};
  const { pr_number: number, human_review_required: needsPerson } = payload ?? {};
  if (tracker.kind !== "local" || payload?.source !== "implement" || number === undefined || needsPerson) return;
  const items = (await store.workItems.ofPullRequest(project.id, number)).filter((item) => item.id !== id);
  if (items.some(({ status }) => status === "available" || (resume && status === "failed"))) return null;
  const state = await app.pullRequestState(project.id, number);
  const wait = pullRequestWait({ number, state, items, foreign: false });
  const why = wait === null ? `ratchet pr sync ${number}` : `${wait.reason}; ${wait.next}`;
  return `it waits for pull request #${number}: ${why}`;
}

/** What the tracker itself has against it: its author, an assignment. */
async function obstacleOf({ tracker }: Pick<Board, "tracker">, id: string): Promise<string | null> {
  const obstacle = (await tracker.standing?.(id))?.obstacle ?? null;
  return obstacle === null ? null : `${obstacle.reason}; ${obstacle.next}`;
}

/** A resume takes claims of runs that are over; only the tracker can tell whose they are. */
async function claimOf(board: Board, { id }: Issue, { resume }: Wanted): Promise<string | null> {
  const { tracker, store, project, left } = board;
  if (tracker.kind !== "local") {
    if (left.includes((await tracker.standing?.(id))?.claim?.holder ?? "")) return null;
    const obstacle = await obstacleOf({ tracker }, id);
    return obstacle ?? (resume ? null : `in progress in ${foreignName(tracker.kind)}`);
  }
  const item = await store.workItems.get(project.id, id);
  if (left.includes(item?.claimedBy ?? "")) return null;
  return `claimed by ${item?.leaseUntil == null ? "run " : ""}${item?.claimedBy ?? "somebody"}`;
}

async function becauseOf({ tracker, store, project }: Board, id: string): Promise<string> {
  const item = tracker.kind === "local" ? await store.workItems.get(project.id, id) : null;
  return item?.failureReason ? ` (${item.failureReason})` : "";
}
