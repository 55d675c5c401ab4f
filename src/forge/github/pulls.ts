import * as z from "zod";
import type { Poll, PullRequest } from "../../core/ports/forge.js";
import type { Github } from "../../lib/github-client/client.js";
import { parseJson } from "../../lib/parse-json.js";
import { haveChecksChanged, lookAtChecks, seenChecks } from "./checks.js";
import { toPullRequest } from "./to-port.js";
import * as wire from "./wire.js";

const readPull = wire.reader(wire.pull, "a pull request");

function pullCall(number: number, signal: AbortSignal | undefined) {
  return { route: "GET /repos/{owner}/{repo}/pulls/{pull_number}", with: { pull_number: number }, signal };
}

export async function readPullRequest(github: Github, number: number, signal?: AbortSignal): Promise<PullRequest> {
  return toPullRequest(await github.get(pullCall(number, signal), readPull));
}

/** Of those whose head is this branch of the repository itself, the newest. */
export async function findPullRequest(
  github: Github,
  { branch, state }: { readonly branch: string; readonly state: "open" | "all" },
  signal?: AbortSignal,
): Promise<PullRequest | null> {
  const { owner, repo } = github.place;
  const call = {
    route: "GET /repos/{owner}/{repo}/pulls",
    with: { head: `${owner}:${branch}`, state, sort: "created", direction: "desc" },
    signal,
  };
  const listed = await github.list(call, wire.reader(wire.listedPull, "a listed pull request"));
  const own = listed.filter(({ head }) => {
    return head.ref === branch && head.repo?.full_name.toLowerCase() === repo.toLowerCase();
  });
  if (own.length === 0) return null;
  return readPullRequest(github, Math.max(...own.map(({ number }) => number)), signal);
}

/**
 * What was seen of a pull request: its tag, and the tags of the checks on its head. Its own tag changes with everything
 * that is said and pushed, and when its checks turn from good to bad; not reliably while they run. So the checks are
 * looked at too until all have ended, and for a while after the last change: CI may have more to start.
 */
const seenSchema = z.object({ pull: z.string(), sha: z.string(), updatedAt: z.string(), checks: seenChecks });
type Seen = z.infer<typeof seenSchema>;

/** How long CI may take to show up. */
const restlessMs = 15 * 60_000;

export async function pollPullRequest(
  github: Github,
  { number, since }: { readonly number: number; readonly since: string | null },
  signal?: AbortSignal,
): Promise<Poll> {
  const seen = since === null ? null : parseSeen(since);
  const look = await github.changed(pullCall(number, signal), seen?.pull ?? null, readPull);
  if (look.type === "unchanged" && seen) {
    if (isQuiet(seen, look.at)) return { type: "unchanged" };
    if (!(await haveChecksChanged(github, seen.checks, { sha: seen.sha, signal }))) return { type: "unchanged" };
  }
  const now = look.type === "changed" ? look : await github.changed(pullCall(number, signal), null, readPull);
  if (now.type === "unchanged") return { type: "unchanged" };
  const { sha } = now.value.head;
  const checks = await lookAtChecks(github, { sha, signal });
  const { updated_at: updatedAt } = now.value;
  const cursor = { pull: isTooFresh(updatedAt, now.at) ? "" : (now.etag ?? ""), sha, updatedAt, checks };
  return { type: "changed", pullRequest: toPullRequest(now.value), cursor: JSON.stringify(cursor) };
}

/**
 * Times are told to the second, and a review changes nothing else: what comes in the second of this look would have the
 * same tag. So it is looked at once more.
 */
function isTooFresh(updatedAt: string, now: number): boolean {
  return !(now - Date.parse(updatedAt) >= 2000);
}

function isQuiet({ checks, updatedAt }: Seen, now: number): boolean {
  return !checks.pending && now - Date.parse(updatedAt) > restlessMs;
}

/** null: nothing to compare with; then everything counts as changed. */
function parseSeen(cursor: string): Seen | null {
  const result = seenSchema.safeParse(parseJson(cursor));
  return result.success && result.data.pull !== "" ? result.data : null;
}
