import { setTimeout as wait } from "node:timers/promises";
import type { MergeMethod, MergeOutcome } from "../../core/ports/forge.js";
import type { Github } from "../../lib/github-client/client.js";
import { GithubError } from "../../lib/github-client/failure.js";
import { readPullRequest } from "./pulls.js";
import * as wire from "./wire.js";

interface How {
  readonly method: MergeMethod;
  readonly head: string;
  readonly signal?: AbortSignal | undefined;
}

const tries = 3;

/** What the pull request is now is asked before each try: a call that failed may have merged it. */
export async function mergePull(github: Github, number: number, how: How): Promise<MergeOutcome> {
  for (let failures = 1; ; failures++) {
    const now = await readPullRequest(github, number, how.signal);
    if (now.state === "merged") return { type: "already-merged", commit: now.mergeCommit };
    if (now.state === "closed") return { type: "refused", reason: "it is closed" };
    if (now.head.sha !== how.head) return { type: "moved" };
    const outcome = await tryMerge(github, number, how);
    if (outcome.type !== "again") return outcome;
    if (failures >= tries) return { type: "refused", reason: outcome.reason };
    await wait(300 * failures, undefined, how.signal ? { signal: how.signal } : {});
  }
}

type Tried = MergeOutcome | { readonly type: "again"; readonly reason: string };

async function tryMerge(github: Github, number: number, { method, head, signal }: How): Promise<Tried> {
  try {
    const answer = await github.send({
      route: "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge",
      with: { pull_number: number, merge_method: method, sha: head },
      // It is asked again only after a look.
      repeatable: false,
      signal,
    });
    const { sha, merged } = wire.reader(wire.merged, "the merge")(answer);
    return merged ? { type: "merged", commit: sha } : { type: "refused", reason: "the forge did not merge it" };
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    if (error.unsure) return afterUnsure(github, number, { error, signal });
    if (error.status === 409 || /base branch was modified/i.test(error.message)) {
      return { type: "again", reason: error.message };
    }
    if (error.status === null || ![403, 405, 422].includes(error.status)) throw error;
    return { type: "refused", reason: error.message };
  }
}

async function afterUnsure(
  github: Github,
  number: number,
  { error, signal }: { readonly error: GithubError; readonly signal: AbortSignal | undefined },
): Promise<Tried> {
  const now = await readPullRequest(github, number, signal);
  if (now.state === "merged" && now.mergeCommit !== null) return { type: "merged", commit: now.mergeCommit };
  if (error.timedOut) throw error;
  return { type: "again", reason: error.message };
}
