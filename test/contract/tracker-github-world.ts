import { join } from "node:path";
import type { Issue, Scope, Tracker } from "../../src/core/ports/tracker.js";
import { openEtags } from "../../src/lib/github-client/etags.js";
import { placeOf } from "../../src/lib/github-client/remote.js";
import { githubTracker } from "../../src/trackers/github.js";
import { type ForgeServer, startForge } from "../forge-server/server.js";
import type { Issue as KeptIssue } from "../forge-server/state.js";
import { type ForgeRepository, forgeRepository } from "./forge-repository.js";
import type { TrackerWorld } from "./tracker-suite.js";

export interface GithubTrackerWorld extends TrackerWorld {
  readonly server: ForgeServer;
  readonly repository: ForgeRepository;
  /** The tracker itself: its ids are numbers. */
  readonly plain: Tracker;
  issue(name: string): KeptIssue;
  comments(name: string): string[];
}

/** GitHub numbers issues by itself; the suite has names for them. */
export async function githubTrackerWorld(
  options: { readonly over?: readonly string[]; readonly trusted?: readonly string[] } = {},
): Promise<GithubTrackerWorld> {
  const { over = [], trusted = ["OWNER", "MEMBER", "COLLABORATOR"] } = options;
  const repository = await forgeRepository();
  const server = await startForge({ repo: "acme/shop", gitDir: repository.gitDir });
  const place = placeOf({ repo: "acme/shop", api_url: server.url }, null);
  const plain = githubTracker(
    {
      ...{ place, token: server.person("ratchet-bot").token, userAgent: "ratchet-test", backoffMs: [10, 20], trusted },
      isOver: async (run) => over.includes(run),
    },
    openEtags(join(repository.root, "etags")),
  );
  const names = new Names();
  return {
    ...{ server, repository, plain, tracker: named(plain, names) },
    add: async ({ id, type, parent, deps = [], priority }) => {
      const lines = [
        ...(parent === undefined ? [] : [`Parent: #${names.number(parent)}`]),
        ...deps.map((dep) => `Depends on #${names.number(dep)}`),
      ];
      const labels = [...(type === "epic" ? ["epic"] : []), ...(priority === undefined ? [] : [`P${priority}`])];
      const made = await server.person("jo").send("POST", "/issues", { title: id, body: lines.join("\n"), labels });
      names.add(id, String(made.number));
    },
    issue: (name) => {
      const issue = server.state.repo.issues.get(Number(names.number(name)));
      if (!issue) throw new Error(`there is no ${name}`);
      return issue;
    },
    comments: (name) =>
      server.state.repo.comments.filter(({ issue }) => String(issue) === names.number(name)).map(({ body }) => body),
    done: () => {
      void server.close();
      repository.done();
    },
  };
}

class Names {
  readonly #numbers = new Map<string, string>();
  add(name: string, number: string): void {
    this.#numbers.set(name, number);
  }
  number(name: string): string {
    return this.#numbers.get(name) ?? name;
  }
  name(number: string): string {
    return [...this.#numbers].find(([, each]) => each === number)?.[0] ?? number;
  }
}

function named(tracker: Tracker, names: Names): Tracker {
  const number = (name: string) => names.number(name);
  const toName = <T extends string | null | undefined>(id: T): string | T =>
    typeof id === "string" ? names.name(id) : id;
  const issueOf = (issue: Issue): Issue => ({
    ...issue,
    id: names.name(issue.id),
    parent: toName(issue.parent),
    deps: issue.deps.map((dep) => names.name(dep)),
    followUpOf: toName(issue.followUpOf ?? null),
  });
  const scopeOf = (scope: Scope): Scope => {
    if (scope.type === "epic") return { type: "epic", epic: number(scope.epic) };
    return scope.type === "ids" ? { type: "ids", ids: scope.ids.map(number) } : scope;
  };
  const { epics } = tracker;
  if (!epics) throw new Error("there are no epics");
  return {
    kind: tracker.kind,
    ready: async (query) => (await tracker.ready({ ...query, scope: scopeOf(query.scope) })).map(issueOf),
    get: async (id) => {
      const issue = await tracker.get(number(id));
      return issue === null ? null : issueOf(issue);
    },
    claim: (id, holder, how) => tracker.claim(number(id), holder, how),
    pass: async (id, claim) => tracker.pass?.(number(id), claim),
    complete: (id, holder, done) => tracker.complete(number(id), holder, done),
    fail: (id, holder, reason) => tracker.fail(number(id), holder, reason),
    release: (id, holder) => tracker.release(number(id), holder),
    escalate: (id, holder, reason) => tracker.escalate(number(id), holder, reason),
    followUp: async (source, text) => {
      const { id, older } = await tracker.followUp(number(source), text);
      const named = Object.entries(older).map(([finding, other]) => [finding, names.name(other)]);
      return { id: names.name(id), older: Object.fromEntries(named) };
    },
    epics: {
      due: async ({ scope, holder }) =>
        (await epics.due({ scope: scopeOf(scope), holder })).map(({ id, isTop }) => ({ id: names.name(id), isTop })),
      children: async (epic) => (await epics.children(number(epic))).map(issueOf),
      claim: (epic, holder) => epics.claim(number(epic), holder),
      complete: (epic, holder, note) => epics.complete(number(epic), holder, note),
      release: (epic, holder) => epics.release(number(epic), holder),
    },
  };
}
