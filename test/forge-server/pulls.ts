import { type Asked, notFound, ok, optional, pageOf, Refused, type Route, text } from "./answer.js";
import { canMerge, changedFiles, headOf, merge } from "./git.js";
import { closeIssue, newIssue } from "./items.js";
import type { Issue, Pull, State } from "./state.js";

export interface Found {
  readonly issue: Issue;
  readonly pull: Pull;
}

/** With the branches as they are now: a push since the last look is told like GitHub does. */
export function findPull({ state, params, tell, shapes }: Asked): Found {
  const issue = state.repo.issues.get(Number(params.pull_number));
  if (!issue?.pull) throw notFound();
  const { pull } = issue;
  if (refreshPull(state, issue, pull)) {
    tell("pull_request", { action: "synchronize", number: issue.number, pull_request: shapes.pull(issue, pull) });
  }
  return { issue, pull };
}

function refreshPull(state: State, issue: Issue, pull: Pull): boolean {
  if (issue.state === "closed") return false;
  const head = headOf(state.repo.gitDir, pull.head) ?? pull.headSha;
  pull.baseSha = headOf(state.repo.gitDir, pull.base) ?? pull.baseSha;
  if (head === pull.headSha) return false;
  pull.headSha = head;
  issue.updatedAt = state.time();
  return true;
}

const listPulls: Route = ({ state, shapes, query }) => {
  const [wanted, head, base] = [query.get("state") ?? "open", query.get("head"), query.get("base")];
  const found = [...state.repo.issues.values()].flatMap((issue) => {
    const { pull } = issue;
    if (!pull || (wanted !== "all" && issue.state !== wanted)) return [];
    if (head !== null && head !== `${state.repo.owner}:${pull.head}`) return [];
    refreshPull(state, issue, pull);
    return base === null || base === pull.base ? [{ issue, pull }] : [];
  });
  if (query.get("direction") !== "asc") found.reverse();
  const { page, total } = pageOf(query, found);
  return { status: 200, body: page.map(({ issue, pull }) => shapes.listedPull(issue, pull)), total };
};

const openPull: Route = ({ state, shapes, who, body, tell }) => {
  const [head, base] = [text(body.head).replace(`${state.repo.owner}:`, ""), text(body.base)];
  const headSha = headOf(state.repo.gitDir, head);
  const baseSha = headOf(state.repo.gitDir, base);
  const invalid = (field: string) => {
    throw new Refused(422, "Validation Failed", [{ resource: "PullRequest", field, code: "invalid" }]);
  };
  if (headSha === null) return invalid("head");
  if (baseSha === null) return invalid("base");
  const isThere = [...state.repo.issues.values()].some(
    (issue) => issue.state === "open" && issue.pull?.head === head && issue.pull.base === base,
  );
  if (isThere) {
    const message = `A pull request already exists for ${state.repo.owner}:${head}.`;
    throw new Refused(422, "Validation Failed", [{ resource: "PullRequest", code: "custom", message }]);
  }
  if (headSha === baseSha) {
    const message = `No commits between ${base} and ${head}`;
    throw new Refused(422, "Validation Failed", [{ resource: "PullRequest", code: "custom", message }]);
  }
  const pull: Pull = { head, base, draft: body.draft === true, headSha, baseSha, merged: null, trial: null };
  const issue = newIssue(state, { author: who.login, title: text(body.title), body: optional(body.body), pull });
  tell("pull_request", { action: "opened", number: issue.number, pull_request: shapes.pull(issue, pull) });
  return ok(shapes.pull(issue, pull), 201);
};

/** Whether it can be merged is worked out after it was asked for, as on GitHub. */
const getPull: Route = async (asked) => {
  const { issue, pull } = findPull(asked);
  const { state, shapes } = asked;
  const answer = ok(shapes.pull(issue, pull));
  const of = `${pull.baseSha}..${pull.headSha}`;
  if (issue.state === "open" && pull.trial?.of !== of) {
    pull.trial = { of, ok: await canMerge(state.repo.gitDir, pull.baseSha, pull.headSha) };
  }
  return answer;
};

const changePull: Route = (asked) => {
  const { issue, pull } = findPull(asked);
  const { state, shapes, body, tell } = asked;
  if (typeof body.title === "string") issue.title = body.title;
  if (typeof body.body === "string") issue.body = body.body;
  if (body.state === "closed" && issue.state === "open") {
    closeIssue(state, issue, null);
    tell("pull_request", { action: "closed", number: issue.number, pull_request: shapes.pull(issue, pull) });
  }
  if (body.state === "open" && pull.merged === null) {
    Object.assign(issue, { state: "open", closedAt: null });
    tell("pull_request", { action: "reopened", number: issue.number, pull_request: shapes.pull(issue, pull) });
  }
  issue.updatedAt = state.time();
  return ok(shapes.pull(issue, pull));
};

const listFiles: Route = async (asked) => {
  const { pull } = findPull(asked);
  const files = await changedFiles(asked.state.repo.gitDir, pull.baseSha, pull.headSha);
  const { page, total } = pageOf(asked.query, files);
  const body = page.map(({ path, status, patch }) => {
    const url = `https://example.invalid/${path}`;
    const lines = (sign: string) => patch.split("\n").filter((line) => line.startsWith(sign)).length;
    const figures = { additions: lines("+"), deletions: lines("-"), changes: lines("+") + lines("-") };
    return {
      sha: pull.headSha,
      filename: path,
      status,
      ...figures,
      blob_url: url,
      raw_url: url,
      contents_url: url,
      patch,
    };
  });
  return { status: 200, body, total };
};

const mergePull: Route = async (asked) => {
  const { issue, pull } = findPull(asked);
  const { state, shapes, who, body, tell } = asked;
  if (issue.state !== "open" || pull.draft) throw new Refused(405, "Pull Request is not mergeable");
  if (body.sha !== undefined && body.sha !== pull.headSha) {
    throw new Refused(409, "Head branch was modified. Review and try the merge again.");
  }
  const reason = blockedBy(state, issue, pull);
  if (reason !== null) throw new Refused(405, reason);
  const method = text(body.merge_method, "merge");
  const message =
    method === "squash"
      ? `${issue.title} (#${issue.number})`
      : `Merge pull request #${issue.number} from ${state.repo.owner}/${pull.head}\n\n${issue.title}`;
  const { base: branch, baseSha: base, headSha: head } = pull;
  const sha = await merge(state.repo.gitDir, { branch, base, head, method, message });
  if (sha === null) throw new Refused(405, "Pull Request is not mergeable");
  pull.merged = { at: state.time(), by: who.login, sha };
  closeIssue(state, issue, null);
  closeNamed(state, issue.body ?? "");
  tell("pull_request", { action: "closed", number: issue.number, pull_request: shapes.pull(issue, pull) });
  return ok({ sha, merged: true, message: "Pull Request successfully merged" });
};

function blockedBy(state: State, issue: Issue, pull: Pull): string | null {
  const rules = state.repo.protection.get(pull.base);
  if (!rules) return null;
  const missing = rules.contexts.find((context) => !isGreen(state, pull.headSha, context));
  if (missing !== undefined) return `Required status check "${missing}" is expected.`;
  const given = state.repo.reviews.filter((review) => review.pull === issue.number && review.state === "APPROVED");
  if (given.length >= rules.approvals) return null;
  return `At least ${rules.approvals} approving review is required by reviewers with write access.`;
}

function isGreen(state: State, sha: string, context: string): boolean {
  const run = state.repo.checkRuns.findLast((each) => each.sha === sha && each.name === context);
  const status = state.repo.statuses.findLast((each) => each.sha === sha && each.context === context);
  return run?.conclusion === "success" || status?.state === "success";
}

/** The words by which a merge closes an issue. */
function closeNamed(state: State, body: string): void {
  for (const [, number] of body.matchAll(/\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? #(\d+)\b/gi)) {
    const issue = state.repo.issues.get(Number(number));
    if (issue && issue.state === "open" && !issue.pull) closeIssue(state, issue, "completed");
  }
}

const getBranch: Route = ({ state, shapes, params }) => {
  const name = params.branch ?? "";
  const sha = headOf(state.repo.gitDir, name);
  if (sha === null) throw new Refused(404, "Branch not found");
  return ok(shapes.branch(name, sha));
};

export const pullRoutes: Readonly<Record<string, Route>> = {
  "GET /repos/{owner}/{repo}/pulls": listPulls,
  "POST /repos/{owner}/{repo}/pulls": openPull,
  "GET /repos/{owner}/{repo}/pulls/{pull_number}": getPull,
  "PATCH /repos/{owner}/{repo}/pulls/{pull_number}": changePull,
  "GET /repos/{owner}/{repo}/pulls/{pull_number}/files": listFiles,
  "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge": mergePull,
  "GET /repos/{owner}/{repo}/branches/{branch}": getBranch,
  "GET /repos/{owner}/{repo}/rules/branches/{branch}": () => ok([]),
};
