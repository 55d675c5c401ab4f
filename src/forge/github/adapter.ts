import type { Forge } from "../../core/ports/forge.js";
import { type Github, openGithub } from "../../lib/github-client/client.js";
import type { Etags } from "../../lib/github-client/etags.js";
import type { GithubOptions } from "../../lib/github-client/sender.js";
import { readCheckLog } from "./checks.js";
import { readFeedback } from "./feedback.js";
import { mergePull } from "./merge.js";
import { openPull, postComment, postReply } from "./posts.js";
import { findPullRequest, pollPullRequest, readPullRequest } from "./pulls.js";
import { postReview } from "./reviews.js";
import * as wire from "./wire.js";

export type GithubForgeOptions = Omit<GithubOptions, "what">;

/** Pull requests on GitHub. */
export function githubForge(options: GithubForgeOptions, etags: Etags | null = null): Forge {
  const github = openGithub({ ...options, what: "forge" }, etags);
  const me = rememberMe(github);
  const pen = { github, me: () => me() };
  return {
    kind: "github",
    repo: github.place.repo,
    whoAmI: me,
    pullRequestOf: (branch, signal) => findPullRequest(github, { branch, state: "all" }, signal),
    pullRequest: (number, signal) => readPullRequest(github, number, signal),
    openPullRequest: (wanted, signal) => openPull(github, wanted, signal),
    feedback: (number, wanted) => readFeedback(github, number, wanted),
    poll: (number, since, signal) => pollPullRequest(github, { number, since }, signal),
    checkLog: (check, maxBytes, signal) => readCheckLog(github, { check, maxBytes }, signal),
    comment: (number, comment) => postComment(pen, number, comment),
    reply: (number, reply) => postReply(pen, number, reply),
    review: (number, review) => postReview(pen, number, review),
    merge: (number, how) => mergePull(github, number, how),
    label: async (number, label) => {
      const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels";
      await github.send({ route, with: { issue_number: number, labels: [label] }, repeatable: true });
    },
    budget: () => github.budget(),
  };
}

/** Asked once; a failure is not remembered. */
function rememberMe(github: Github): (signal?: AbortSignal) => Promise<string> {
  let known: string | null = null;
  return async (signal) => {
    known ??= (await github.get({ route: "GET /user", signal }, wire.reader(wire.account, "the token's user"))).login;
    return known;
  };
}
