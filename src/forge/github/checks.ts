import * as z from "zod";
import type { Check } from "../../core/ports/forge.js";
import { Bug } from "../../lib/errors.js";
import type { Github } from "../../lib/github-client/client.js";
import { GithubError } from "../../lib/github-client/failure.js";
import { tailOf } from "../../lib/github-client/tail.js";
import { statusToCheck, toCheck } from "./to-port.js";
import * as wire from "./wire.js";

const readRun = wire.reader(wire.checkRun, "a check run");
const readStatus = wire.reader(wire.status, "a commit status");

function runsCall(ref: string, signal: AbortSignal | undefined) {
  return { route: "GET /repos/{owner}/{repo}/commits/{ref}/check-runs", with: { ref, per_page: 100 }, signal };
}
function statusCall(ref: string, signal: AbortSignal | undefined) {
  return { route: "GET /repos/{owner}/{repo}/commits/{ref}/status", with: { ref, per_page: 100 }, signal };
}

interface Commit {
  readonly sha: string;
  readonly base: string;
}

/** Check runs and commit statuses, the newest of each name. */
export async function readChecks(github: Github, { sha, base }: Commit, signal?: AbortSignal): Promise<Check[]> {
  const [runs, statuses, isRequired] = await Promise.all([
    github.list({ ...runsCall(sha, signal), items: "check_runs" }, readRun),
    github.list({ ...statusCall(sha, signal), items: "statuses" }, readStatus),
    readRequired(github, base, signal),
  ]);
  return [
    ...runs.map((run) => toCheck(run, isRequired)),
    ...statuses.map((each) => statusToCheck(each, { commit: sha, isRequired })),
  ];
}

/** Named by the branch's protection or by a rule. Where neither names any, every check counts: a red one is to be fixed. */
async function readRequired(
  github: Github,
  branch: string,
  signal: AbortSignal | undefined,
): Promise<(name: string) => boolean> {
  const named = { with: { branch }, signal };
  const [known, rules] = await Promise.all([
    ifThere(
      github.get(
        { route: "GET /repos/{owner}/{repo}/branches/{branch}", ...named },
        wire.reader(wire.branch, "a branch"),
      ),
    ),
    ifThere(
      github.list(
        { route: "GET /repos/{owner}/{repo}/rules/branches/{branch}", ...named },
        wire.reader(wire.rule, "a rule"),
      ),
    ),
  ]);
  const names = new Set([
    ...(known?.protection?.required_status_checks?.contexts ?? []),
    ...(rules ?? []).flatMap(({ type, parameters }) => {
      const checks = type === "required_status_checks" ? parameters?.required_status_checks : null;
      return (checks ?? []).map(({ context }) => context);
    }),
  ]);
  return (name) => names.size === 0 || names.has(name);
}

/** null: older servers do not have it, or the token may not see it. */
async function ifThere<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof GithubError && (error.status === 404 || error.status === 403)) return null;
    throw error;
  }
}

/** The end of its log, or its summary where there is no log (any more). */
export async function readCheckLog(
  github: Github,
  { check, maxBytes }: { readonly check: Check; readonly maxBytes: number },
  signal?: AbortSignal,
): Promise<string> {
  const summary = tailOf(check.summary, maxBytes);
  if (check.job === null) return summary;
  const route = "GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs";
  try {
    return await github.tail({ route, with: { job_id: Number(check.job) }, signal }, maxBytes);
  } catch (error) {
    if (error instanceof GithubError && [403, 404, 410].includes(error.status ?? 0)) return summary;
    throw error;
  }
}

export const seenChecks = z.object({
  runs: z.string().nullable(),
  statuses: z.string().nullable(),
  count: z.number(),
  pending: z.boolean(),
});
export type SeenChecks = z.infer<typeof seenChecks>;

const runsPage = z.object({ total_count: z.number(), check_runs: z.array(wire.checkRun) });
const statusPage = z.object({ total_count: z.number(), statuses: z.array(wire.status) });
const readRuns = wire.reader(runsPage, "a page of check runs");
const readStatuses = wire.reader(statusPage, "a page of commit statuses");

interface Look {
  readonly sha: string;
  readonly signal: AbortSignal | undefined;
}

export async function lookAtChecks(github: Github, { sha, signal }: Look): Promise<SeenChecks> {
  const [runs, statuses] = await Promise.all([
    github.changed(runsCall(sha, signal), null, readRuns),
    github.changed(statusCall(sha, signal), null, readStatuses),
  ]);
  if (runs.type === "unchanged" || statuses.type === "unchanged")
    throw new Bug("what was not asked cannot be unchanged");
  const { check_runs: list, total_count: runCount } = runs.value;
  const { statuses: states, total_count: statusCount } = statuses.value;
  // Of what is on later pages nothing is known: it may run.
  const isCut = runCount > list.length || statusCount > states.length;
  const isRunning =
    list.some(({ status }) => status !== "completed") || states.some(({ state }) => state === "pending");
  const tags = { runs: runs.etag, statuses: statuses.etag };
  return { ...tags, count: runCount + statusCount, pending: isCut || isRunning };
}

export async function haveChecksChanged(github: Github, seen: SeenChecks, { sha, signal }: Look): Promise<boolean> {
  const looks = await Promise.all([
    github.changed(runsCall(sha, signal), seen.runs, readRuns),
    github.changed(statusCall(sha, signal), seen.statuses, readStatuses),
  ]);
  return looks.some(({ type }) => type === "changed");
}
