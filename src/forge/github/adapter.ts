import type { Forge } from "../../core/ports/forge.js";
import { openGithub } from "../../lib/github-client/client.js";
import type { Etags } from "../../lib/github-client/etags.js";
import { rememberMe } from "../../lib/github-client/me.js";
import type { GithubOptions } from "../../lib/github-client/sender.js";
import { findObstacle } from "./access.js";
import { readCheckLog } from "./checks.js";
import { readFeedback } from "./feedback.js";
import { mergePull } from "./merge.js";
import { openPull, type Pen, postComment, postReply } from "./posts.js";
import { findPullRequest, pollPullRequest, readPullRequest } from "./pulls.js";
import { postReview } from "./reviews.js";

export type GithubForgeOptions = Omit<GithubOptions, "what">;

/** Pull requests on GitHub. */
export function githubForge(options: GithubForgeOptions, etags: Etags | null = null): Forge {
  const github = openGithub({ ...options, what: "forge" }, etags);
  const me = rememberMe(github);
  const penFor = (signal: AbortSignal | undefined): Pen => ({ github, me: () => me(signal), signal });
  return {
    kind: "github",
    repo: github.place.repo,
    obstacle: (signal) => findObstacle(github, signal),
    whoAmI: me,
    pullRequestOf: (branch, signal) => findPullRequest(github, { branch, state: "all" }, signal),
    pullRequest: (number, signal) => readPullRequest(github, number, signal),
    openPullRequest: (wanted, signal) => openPull(github, wanted, signal),
    feedback: (number, wanted) => readFeedback(github, number, wanted),
    poll: (number, since, signal) => pollPullRequest(github, { number, since }, signal),
    checkLog: (check, maxBytes, signal) => readCheckLog(github, { check, maxBytes }, signal),
    comment: (number, comment, signal) => postComment(penFor(signal), number, comment),
    reply: (number, reply, signal) => postReply(penFor(signal), number, reply),
    review: (number, review, signal) => postReview(penFor(signal), number, review),
    merge: (number, how, signal) => mergePull(github, number, { ...how, signal }),
    label: async (number, label, signal) => {
      const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels";
      await github.send({ route, with: { issue_number: number, labels: [label] }, repeatable: true, signal });
    },
    budget: () => github.budget(),
  };
}
