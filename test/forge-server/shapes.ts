import { followLine, headOf } from "./git.js";
import type { CheckRun, Comment, Inline, Issue, Pull, Review, State, Status } from "./state.js";

/** GitHub's shapes, with every field that its description requires. */
export class Shapes {
  readonly #state: State;
  readonly #url: string;
  constructor(state: State, url: string) {
    this.#state = state;
    this.#url = url;
  }

  get #repoUrl(): string {
    const { owner, name } = this.#state.repo;
    return `${this.#url}/repos/${owner}/${name}`;
  }
  get #webUrl(): string {
    const { owner, name } = this.#state.repo;
    return `${this.#url}/${owner}/${name}`;
  }

  user(login: string | null) {
    if (login === null) return null;
    const url = `${this.#url}/users/${encodeURIComponent(login)}`;
    const isBot = login.endsWith("[bot]");
    return {
      login,
      id: [...login].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 1_000_000,
      node_id: `U_${login}`,
      avatar_url: `${url}/avatar`,
      gravatar_id: "",
      url,
      html_url: url,
      followers_url: `${url}/followers`,
      following_url: `${url}/following{/other_user}`,
      gists_url: `${url}/gists{/gist_id}`,
      starred_url: `${url}/starred{/owner}{/repo}`,
      subscriptions_url: `${url}/subscriptions`,
      organizations_url: `${url}/orgs`,
      repos_url: `${url}/repos`,
      events_url: `${url}/events{/privacy}`,
      received_events_url: `${url}/received_events`,
      type: isBot ? "Bot" : "User",
      site_admin: false,
    };
  }

  account(login: string) {
    const texts = { name: login, company: null, blog: null, location: null, email: null, hireable: null, bio: null };
    const counts = { public_repos: 1, public_gists: 0, followers: 0, following: 0 };
    return { ...this.user(login), ...texts, ...counts, created_at: this.#epoch, updated_at: this.#epoch };
  }
  readonly #epoch = "2020-01-01T00:00:00Z";

  repository() {
    const { owner, name } = this.#state.repo;
    const url = this.#repoUrl;
    const plain = [
      "contributors deployments downloads events forks hooks languages merges stargazers subscribers subscription tags teams",
    ].flatMap((words) => words.split(" ").map((word) => [`${word}_url`, `${url}/${word}`]));
    const withPart = [
      "archive assignees blobs branches collaborators comments commits compare contents git_commits git_refs git_tags",
      "issue_comment issue_events issues keys labels milestones notifications pulls releases statuses trees",
    ].flatMap((words) => words.split(" ").map((word) => [`${word}_url`, `${url}/${word}{/part}`]));
    return {
      id: 1,
      node_id: "R_1",
      name,
      full_name: `${owner}/${name}`,
      owner: this.user(owner),
      private: false,
      html_url: this.#webUrl,
      description: null,
      fork: false,
      url,
      ...Object.fromEntries([...plain, ...withPart]),
      ...this.#repositoryFigures(),
      permissions: { admin: false, maintain: false, push: true, triage: true, pull: true },
    };
  }

  #repositoryFigures() {
    const open = [...this.#state.repo.issues.values()].filter(({ state }) => state === "open").length;
    const web = this.#webUrl;
    return {
      ...{ clone_url: `${web}.git`, git_url: `${web}.git`, ssh_url: `${web}.git`, svn_url: web, mirror_url: null },
      ...{ homepage: null, language: null, license: null, archived: false, disabled: false, default_branch: "main" },
      ...{ forks: 0, forks_count: 0, stargazers_count: 0, watchers: 0, watchers_count: 0, size: 1, network_count: 0 },
      ...{ has_issues: true, has_projects: false, has_wiki: false, has_pages: false, has_downloads: false },
      ...{ has_discussions: false, open_issues: open, open_issues_count: open, subscribers_count: 0 },
      ...{ pushed_at: this.#epoch, created_at: this.#epoch, updated_at: this.#epoch },
    };
  }

  label(name: string) {
    const id = this.#state.repo.labels.get(name) ?? this.#state.nextId();
    this.#state.repo.labels.set(name, id);
    const url = `${this.#repoUrl}/labels/${encodeURIComponent(name)}`;
    return { id, node_id: `LA_${id}`, url, name, description: "", color: "ededed", default: false };
  }

  issue(issue: Issue) {
    const url = `${this.#repoUrl}/issues/${issue.number}`;
    const comments = this.#state.repo.comments.filter((comment) => comment.issue === issue.number).length;
    const pull = `${this.#repoUrl}/pulls/${issue.number}`;
    const links = { url: pull, html_url: pull, diff_url: `${pull}.diff`, patch_url: `${pull}.patch` };
    return {
      url,
      repository_url: this.#repoUrl,
      labels_url: `${url}/labels{/name}`,
      comments_url: `${url}/comments`,
      events_url: `${url}/events`,
      ...this.#common(issue),
      html_url: `${this.#webUrl}/${issue.pull ? "pull" : "issues"}/${issue.number}`,
      comments,
      state_reason: issue.stateReason,
      author_association: this.#state.associationOf(issue.author),
      ...(issue.pull ? { pull_request: { ...links, merged_at: issue.pull.merged?.at ?? null } } : {}),
    };
  }

  #common(issue: Issue) {
    return {
      id: issue.id,
      node_id: `I_${issue.id}`,
      number: issue.number,
      title: issue.title,
      body: issue.body,
      user: this.user(issue.author),
      labels: issue.labels.map((name) => this.label(name)),
      state: issue.state,
      locked: false,
      assignee: this.user(issue.assignees[0] ?? null),
      assignees: issue.assignees.map((login) => this.user(login)),
      milestone: null,
      created_at: issue.createdAt,
      updated_at: issue.updatedAt,
      closed_at: issue.closedAt,
    };
  }

  listedPull(issue: Issue, pull: Pull) {
    const { owner } = this.#state.repo;
    const url = `${this.#repoUrl}/pulls/${issue.number}`;
    const html = `${this.#webUrl}/pull/${issue.number}`;
    const issueUrl = `${this.#repoUrl}/issues/${issue.number}`;
    const urls = {
      url,
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      issue_url: issueUrl,
      commits_url: `${url}/commits`,
      review_comments_url: `${url}/comments`,
      review_comment_url: `${this.#repoUrl}/pulls/comments{/number}`,
      comments_url: `${issueUrl}/comments`,
      statuses_url: `${this.#repoUrl}/statuses/${pull.headSha}`,
    };
    const hrefs = { self: url, html, issue: issueUrl, comments: urls.comments_url, commits: urls.commits_url };
    const more = { review_comments: `${url}/comments`, review_comment: urls.review_comment_url };
    const links = Object.entries({ ...hrefs, ...more, statuses: urls.statuses_url });
    const end = (ref: string, sha: string) => ({
      label: `${owner}:${ref}`,
      ref,
      sha,
      user: this.user(owner),
      repo: this.repository(),
    });
    return {
      ...this.#common(issue),
      ...urls,
      requested_reviewers: [],
      requested_teams: [],
      head: end(pull.head, pull.headSha),
      base: end(pull.base, pull.baseSha),
      _links: Object.fromEntries(links.map(([name, href]) => [name, { href }])),
      author_association: this.#state.associationOf(issue.author),
      auto_merge: null,
      draft: pull.draft,
      merged_at: pull.merged?.at ?? null,
      merge_commit_sha: pull.merged?.sha ?? null,
    };
  }

  pull(issue: Issue, pull: Pull) {
    const { comments, inline } = this.#state.repo;
    const isKnown = pull.merged === null && pull.trial?.of === `${pull.baseSha}..${pull.headSha}`;
    return {
      ...this.listedPull(issue, pull),
      merged: pull.merged !== null,
      mergeable: isKnown ? (pull.trial?.ok ?? null) : null,
      mergeable_state: this.#mergeableState(pull, isKnown),
      merged_by: this.user(pull.merged?.by ?? null),
      comments: comments.filter((comment) => comment.issue === issue.number).length,
      review_comments: inline.filter((comment) => comment.pull === issue.number).length,
      maintainer_can_modify: false,
      ...{ commits: 1, additions: 1, deletions: 0, changed_files: 1 },
    };
  }

  #mergeableState({ draft, trial, headSha }: Pull, isKnown: boolean): string {
    const { checkRuns, statuses } = this.#state.repo;
    if (!isKnown) return "unknown";
    if (!trial?.ok) return "dirty";
    if (draft) return "draft";
    const isGood = (word: string | null) => ["success", "neutral", "skipped"].includes(word ?? "");
    const isStable =
      checkRuns.filter(({ sha }) => sha === headSha).every(({ conclusion }) => isGood(conclusion)) &&
      statuses.filter(({ sha }) => sha === headSha).every(({ state }) => isGood(state));
    return isStable ? "clean" : "unstable";
  }

  comment(comment: Comment) {
    const issueUrl = `${this.#repoUrl}/issues/${comment.issue}`;
    return {
      url: `${this.#repoUrl}/issues/comments/${comment.id}`,
      html_url: `${this.#webUrl}/issues/${comment.issue}#issuecomment-${comment.id}`,
      issue_url: issueUrl,
      id: comment.id,
      node_id: `IC_${comment.id}`,
      user: this.user(comment.author),
      created_at: comment.createdAt,
      updated_at: comment.updatedAt,
      body: comment.body,
      author_association: this.#state.associationOf(comment.author),
    };
  }

  review(review: Review) {
    const html = `${this.#webUrl}/pull/${review.pull}#pullrequestreview-${review.id}`;
    const pull = `${this.#repoUrl}/pulls/${review.pull}`;
    return {
      id: review.id,
      node_id: `PRR_${review.id}`,
      user: this.user(review.author),
      body: review.body,
      state: review.state,
      html_url: html,
      pull_request_url: pull,
      _links: { html: { href: html }, pull_request: { href: pull } },
      submitted_at: review.submittedAt,
      commit_id: review.commit,
      author_association: this.#state.associationOf(review.author),
    };
  }

  async inline(comment: Inline) {
    const html = `${this.#webUrl}/pull/${comment.pull}#discussion_r${comment.id}`;
    const url = `${this.#repoUrl}/pulls/comments/${comment.id}`;
    const pull = `${this.#repoUrl}/pulls/${comment.pull}`;
    const to = this.#headOf(comment.pull) ?? comment.commit;
    const { path, commit: from } = comment;
    const follow = async (line: number | null) =>
      line === null ? null : await followLine(this.#state.repo.gitDir, { path, line, from, to });
    return {
      url,
      pull_request_review_id: comment.review,
      id: comment.id,
      node_id: `PRRC_${comment.id}`,
      diff_hunk: "@@ -1 +1 @@",
      path,
      commit_id: to,
      original_commit_id: from,
      ...(comment.replyTo === null ? {} : { in_reply_to_id: comment.replyTo }),
      user: this.user(comment.author),
      body: comment.body,
      created_at: comment.createdAt,
      updated_at: comment.createdAt,
      html_url: html,
      pull_request_url: pull,
      author_association: this.#state.associationOf(comment.author),
      _links: { self: { href: url }, html: { href: html }, pull_request: { href: pull } },
      start_line: await follow(comment.startLine),
      original_start_line: comment.startLine,
      start_side: comment.startLine === null ? null : "RIGHT",
      line: await follow(comment.line),
      original_line: comment.line ?? 1,
      side: "RIGHT",
      subject_type: comment.about,
    };
  }

  #headOf(number: number): string | null {
    const pull = this.#state.repo.issues.get(number)?.pull;
    return pull ? (headOf(this.#state.repo.gitDir, pull.head) ?? pull.headSha) : null;
  }

  checkRun(run: CheckRun) {
    const url = `${this.#repoUrl}/check-runs/${run.id}`;
    return {
      id: run.id,
      node_id: `CR_${run.id}`,
      head_sha: run.sha,
      external_id: "",
      url,
      html_url: `${this.#webUrl}/runs/${run.id}`,
      details_url: run.detailsUrl,
      status: run.status,
      conclusion: run.conclusion,
      started_at: run.startedAt,
      completed_at: run.completedAt,
      output: { ...run.output, annotations_count: 0, annotations_url: `${url}/annotations` },
      name: run.name,
      check_suite: { id: 1 },
      app: {
        id: 15368,
        slug: run.app,
        node_id: "A_1",
        owner: this.user("github"),
        name: run.app,
        description: "",
        external_url: this.#url,
        html_url: this.#url,
        created_at: this.#epoch,
        updated_at: this.#epoch,
        permissions: { checks: "write" },
        events: [],
      },
      pull_requests: [],
    };
  }

  status(status: Status) {
    return {
      url: `${this.#repoUrl}/statuses/${status.sha}`,
      avatar_url: null,
      id: status.id,
      node_id: `SC_${status.id}`,
      state: status.state,
      description: status.description,
      target_url: status.targetUrl,
      context: status.context,
      created_at: status.createdAt,
      updated_at: status.createdAt,
    };
  }

  combinedStatus(sha: string, page: readonly Status[], total: number) {
    const states = page.map(({ state }) => state);
    const bad = states.some((state) => state === "failure" || state === "error");
    const state = bad ? "failure" : states.length === 0 || states.includes("pending") ? "pending" : "success";
    const statuses = page.map((each) => this.status(each));
    const urls = { commit_url: `${this.#repoUrl}/commits/${sha}`, url: `${this.#repoUrl}/commits/${sha}/status` };
    return { state, sha, total_count: total, statuses, repository: this.repository(), ...urls };
  }

  branch(name: string, sha: string) {
    const url = `${this.#repoUrl}/commits/${sha}`;
    const rules = this.#state.repo.protection.get(name);
    const self = `${this.#repoUrl}/branches/${name}`;
    const tree = { sha, url };
    return {
      name,
      commit: {
        ...{ url, sha, node_id: `C_${sha}`, html_url: url, comments_url: url, author: {}, committer: {}, parents: [] },
        commit: { author: null, committer: null, comment_count: 0, message: "", tree, url },
      },
      _links: { html: self, self },
      protected: rules !== undefined,
      protection: {
        enabled: rules !== undefined,
        required_status_checks: {
          enforcement_level: rules ? "non_admins" : "off",
          contexts: rules?.contexts ?? [],
          checks: (rules?.contexts ?? []).map((context) => ({ context, app_id: null })),
        },
      },
      protection_url: `${self}/protection`,
    };
  }
}
