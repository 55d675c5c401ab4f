import { join } from "node:path";
import type { Issue, Tracker } from "../../core/ports/tracker.js";
import type { Settings } from "../../core/settings.js";
import { Refusal } from "../../lib/errors.js";
import { safeName } from "../../lib/home.js";
import { withLock } from "../../lib/lock.js";
import { foreignOf, listHint } from "../../views/foreign-tracker.js";
import { shellWord } from "../../views/shell-word.js";
import { openTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";
import { endPullRequest, refuseInPullRequest, refuseLeft } from "../hands-off.js";
import { typed } from "../typed.js";
import { prepare } from "./command.js";
import { driveSeries } from "./series.js";

/** `ratchet land`: a run of one life that begins at the gate and ends with the landing. One at a time for an issue. */
export async function landIssue(
  context: Context,
  issueId: string,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { app } = context;
  const settings = await prepare(context, {});
  const { id } = await app.project();
  const lock = join(app.home.root, "locks", "land", `${safeName(id)}--${safeName(issueId)}`);
  let isOurs = false;
  const task = async () => {
    isOurs = true;
    return await landAlone(context, { issueId, settings, json });
  };
  try {
    return await withLock(lock, task, { signal: AbortSignal.timeout(patienceMs) });
  } catch (error) {
    if (isOurs || !(error instanceof Error) || error.name !== "AbortError") throw error;
    const hint = "ratchet status shows how far it is";
    throw new Refusal(`${issueId} is being landed by another ratchet land`, { code: "landing", hint });
  }
}

/** One that is about to end is waited for: then it is known what came of it. */
const patienceMs = 1000;

interface Landing {
  readonly issueId: string;
  readonly settings: Settings;
  readonly json: boolean;
}

async function landAlone(context: Context, { issueId, settings, json }: Landing): Promise<number> {
  const { app } = context;
  const tracker = await openTracker(context, settings);
  const issue = await tracker.get(issueId);
  if (issue === null) {
    throw new Refusal(`no issue ${typed(issueId)}`, { code: "not-found", hint: listHint(foreignOf(tracker)) });
  }
  const store = await app.store();
  const { id: project } = await app.project();
  await refuseLeft(store, { projectId: project, id: issueId });
  await refuseWrong(issue, tracker);
  const item = await store.workItems.get(project, issueId);
  if (item) await refuseInPullRequest(context, item, endPullRequest);
  const target = settings.finalize.into ?? (await app.repository()).branch ?? "";
  if (target === `ratchet/${safeName(issueId)}`) {
    const how = { code: "wrong-branch", hint: "check out the branch that it shall land on, or set finalize.into" };
    throw new Refusal(`you are on ${target}, the branch of ${issueId} itself`, how);
  }
  const work = await (await app.worktrees()).work(issueId, target);
  if (work === "none") {
    const why = issue.status === "completed" ? ": it is completed" : "";
    throw new Refusal(`${issueId} has no work that could land${why}`, { code: "nothing-to-land" });
  }
  if (work === "landed") throw new Refusal(`${issueId} has landed on ${target} already`, { code: "landed" });
  const scope = { type: "ids", ids: [issueId] } as const;
  const options = { scope, resume: true, strict: false, fresh: false, maxIssues: 1, only: "land" } as const;
  const before = await store.lastRecord(project, issueId);
  const code = await driveSeries(context, { settings, options, json, alone: true });
  const after = await store.lastRecord(project, issueId);
  if (code !== 0 || after?.runId !== before?.runId) return code;
  const how = { code: "wrong-status", hint: `ratchet explain ${shellWord(issueId)}` };
  throw new Refusal(`${issueId} was not landed: somebody else has taken it meanwhile`, how);
}

/** Somebody works on it, somebody said no, or what it builds on is not there yet. */
async function refuseWrong({ id, type, status, deps }: Issue, tracker: Tracker): Promise<void> {
  const how = { code: "wrong-status", hint: `ratchet explain ${id}` };
  if (type === "epic") throw new Refusal(`${id} is an epic: its children land`, how);
  if (status === "claimed") throw new Refusal(`${id} is being worked on`, how);
  if (status === "blocked") throw new Refusal(`${id} is blocked`, { ...how, hint: `ratchet work unblock ${id}` });
  for (const dep of deps) {
    const on = await tracker.get(dep);
    if (on && on.status !== "completed") throw new Refusal(`${id} builds on ${dep}, which has not landed`, how);
  }
}
