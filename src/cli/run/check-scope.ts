import type { Project, Store } from "../../app.js";
import { isCaredFor, lookAtNamed, type Named, type NotReady, whyNotReady } from "../../core/not-ready.js";
import type { Issue, Tracker } from "../../core/ports/tracker.js";
import type { Settings } from "../../core/settings.js";
import { Refusal, UserError } from "../../lib/errors.js";

import { type ForeignTracker, foreignHint, foreignName, foreignOf } from "../../views/foreign-tracker.js";
import { pullRequestWait } from "../../views/pull-request-wait.js";
import { shellWord } from "../../views/shell-word.js";
import { openTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";
import { typed } from "../typed.js";
import { findWaits } from "./find-waits.js";
import { isLeft } from "./left-runs.js";
import { isMeant } from "./meant.js";
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
  const { tracker, store, project } = board;
  const named: Named[] = [];
  for (const issue of issues) {
    named.push(await lookAtNamed({ tracker, board: store.workItems, projectId: project.id }, issue));
  }
  const reasons = await findReasons(board, named, wanted);
  return named.flatMap((one) => {
    const { id } = one.issue;
    const found = reasons.get(id);
    return found ? [{ id, reason: withNext(found, id, foreignOf(tracker)), isStuck: !isCaredFor(one) }] : [];
  });
}

function tell({ out }: Context, { id, reason }: Unready): void {
  out.note(`${id} is not ready: ${reason}`);
}

async function findReasons(board: Board, named: readonly Named[], wanted: Wanted): Promise<Map<string, NotReady>> {
  const { store, project, left } = board;
  const { resume } = wanted;
  const untold = await board.app.untold(board.tracker.kind);
  const against = new Map<string, NotReady>();
  for (const one of named) {
    const { id } = one.issue;
    const isUntouched = !(await isMeant({ store, project, wanted }, id));
    const found = whyNotReady(one, { resume, left, isUntouched, isFreed: isFreed(one, untold) });
    const reason = found?.why === "waiting_for_response" ? await inPullRequest(board, id, { resume, found }) : found;
    if (reason !== null) against.set(id, reason);
  }
  return new Map([...against, ...(await findWaits({ ...board, wanted }, named, against))]);
}

/** Of a claim that may never have been made the tracker knows whose it is; any other may go by a name of its own there. */
function isFreed({ issue, standing }: Named, untold: Awaited<ReturnType<Context["app"]["untold"]>>): boolean {
  return untold.some(
    (one) =>
      one.op === "release" && one.issueId === issue.id && (!one.unsure || one.holder === standing?.claim?.holder),
  );
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
  const foreign = foreignOf(tracker);
  const place = foreign === null ? project.id : foreignName(foreign);
  const own = "ratchet work list shows the issues; ratchet work add makes one";
  const hint = foreign === null ? own : foreignHint(foreign, "list");
  throw new Refusal(`no issue ${unknown.map(typed).join(", ")} in ${place}`, { code: "not-found", hint });
}

/** The reason, and what to do. */
function withNext({ why, reason, about = "" }: NotReady, id: string, foreign: ForeignTracker | null): string {
  const isLocal = foreign === null;
  const retry = isLocal ? `ratchet retry ${id}` : foreignHint(foreign, "retry", id);
  const unblock = isLocal ? `use ratchet work unblock ${id}` : foreignHint(foreign, "unblock", id);
  const decide = isLocal ? `, use ${retry}` : `, ${retry}`;
  const next: Partial<Record<NotReady["why"], string>> = {
    epic: `, use --scope epic:${id}`,
    failed: `, use --resume or ${retry}`,
    blocked: `, ${unblock}`,
    waiting_for_response: decide,
    quarantined: decide,
    claimed: isLocal ? "" : ` in ${foreignName(foreign)}`,
    obstacle: `; ${about}`,
    unmerged: `, use ratchet land ${shellWord(about)}`,
    untouched: ", so there is nothing to check",
  };
  return `${reason}${next[why] ?? ""}`;
}

/** What its pull request waits for; null: for this run, which takes an item of it. `found`: it is in none, or needs a person. */
async function inPullRequest(
  { app, store, project, tracker }: Board,
  id: string,
  { resume, found }: { readonly resume: boolean; readonly found: NotReady },
): Promise<NotReady | null> {
  const { payload } = (await store.workItems.get(project.id, id)) ?? {};
  const { pr_number: number, human_review_required: needsPerson } = payload ?? {};
  if (tracker.kind !== "local" || payload?.source !== "implement" || number === undefined || needsPerson) return found;
  const items = (await store.workItems.ofPullRequest(project.id, number)).filter((item) => item.id !== id);
  if (items.some(({ status }) => status === "available" || (resume && status === "failed"))) return null;
  const state = await app.pullRequestState(project.id, number);
  const wait = pullRequestWait({ number, state, items, foreign: false });
  const reason = `it waits for pull request #${number}: ${wait?.reason ?? `ratchet pr sync ${number}`}`;
  return wait === null ? { why: "missing", reason } : { why: "obstacle", reason, about: wait.next };
}
