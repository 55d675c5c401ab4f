import { type Asked, notFound, ok, optional, pageOf, type Route, text } from "./answer.js";
import { headOf } from "./git.js";
import type { CheckRun, Status } from "./state.js";

function shaOf({ state, params }: Asked): string {
  const ref = params.ref ?? "";
  return /^[0-9a-f]{40}$/.test(ref) ? ref : (headOf(state.repo.gitDir, ref) ?? ref);
}

/** The last of each name. */
function newest<T>(list: readonly T[], nameOf: (each: T) => string): T[] {
  return [...new Map(list.map((each) => [nameOf(each), each])).values()];
}

const listRuns: Route = (asked) => {
  const sha = shaOf(asked);
  const own = asked.state.repo.checkRuns.filter((run) => run.sha === sha);
  const { page, total } = pageOf(
    asked.query,
    newest(own, ({ name }) => name),
  );
  const runs = page.map((run) => asked.shapes.checkRun(run));
  return { status: 200, body: { total_count: total, check_runs: runs }, total };
};

const combinedStatus: Route = (asked) => {
  const sha = shaOf(asked);
  const own = asked.state.repo.statuses.filter((status) => status.sha === sha);
  const { page, total } = pageOf(
    asked.query,
    newest(own, ({ context }) => context),
  );
  return { status: 200, body: asked.shapes.combinedStatus(sha, page, total), total };
};

function outputOf(value: unknown): CheckRun["output"] {
  const fields: Readonly<Record<string, unknown>> = typeof value === "object" && value !== null ? { ...value } : {};
  return { title: optional(fields.title), summary: optional(fields.summary), text: optional(fields.text) };
}

const addRun: Route = ({ state, shapes, who, body, tell }) => {
  const conclusion = optional(body.conclusion);
  const run: CheckRun = {
    ...{ id: state.nextId(), name: text(body.name), sha: text(body.head_sha) },
    app: who.login.replace(/\[bot\]$/, ""),
    ...{ status: conclusion === null ? text(body.status, "queued") : "completed", conclusion },
    ...{ detailsUrl: optional(body.details_url), output: outputOf(body.output) },
    ...{ startedAt: state.time(), completedAt: conclusion === null ? null : state.time() },
  };
  state.repo.checkRuns.push(run);
  tell("check_run", { action: conclusion === null ? "created" : "completed", check_run: shapes.checkRun(run) });
  return ok(shapes.checkRun(run), 201);
};

const changeRun: Route = ({ state, shapes, params, body, tell }) => {
  const run = state.repo.checkRuns.find(({ id }) => id === Number(params.check_run_id));
  if (!run) throw notFound();
  const conclusion = optional(body.conclusion);
  run.status = conclusion === null ? text(body.status, run.status) : "completed";
  run.conclusion = conclusion;
  run.completedAt = conclusion === null ? null : state.time();
  if (body.output !== undefined) run.output = outputOf(body.output);
  tell("check_run", { action: conclusion === null ? "created" : "completed", check_run: shapes.checkRun(run) });
  return ok(shapes.checkRun(run));
};

const addStatus: Route = ({ state, shapes, who, params, body, tell }) => {
  const status: Status = {
    ...{ id: state.nextId(), sha: params.sha ?? "", context: text(body.context, "default"), state: text(body.state) },
    ...{ description: optional(body.description), targetUrl: optional(body.target_url), createdAt: state.time() },
  };
  state.repo.statuses.push(status);
  tell("status", { sha: status.sha, state: status.state, context: status.context });
  return ok({ ...shapes.status(status), creator: shapes.user(who.login) }, 201);
};

/** A log lies elsewhere, as on GitHub: the answer says where. */
const jobLog: Route = ({ state, params }) => {
  const id = Number(params.job_id);
  if (!state.repo.logs.has(id)) throw notFound();
  return { status: 302, body: null, headers: { location: `/_logs/${id}` } };
};

export const checkRoutes: Readonly<Record<string, Route>> = {
  "GET /repos/{owner}/{repo}/commits/{ref}/check-runs": listRuns,
  "GET /repos/{owner}/{repo}/commits/{ref}/status": combinedStatus,
  "POST /repos/{owner}/{repo}/check-runs": addRun,
  "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}": changeRun,
  "POST /repos/{owner}/{repo}/statuses/{sha}": addStatus,
  "GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs": jobLog,
};
