import type { Issue, Scope, Tracker } from "../../core/ports/tracker.js";
import type { Github } from "../../lib/github-client/client.js";
import { type Claims, isReassigned } from "./claims.js";
import { type Found, isEpic, labels, listIssues, lookUp, priorityOf, statusOf, toIssue } from "./issues.js";

type Query = Parameters<Tracker["ready"]>[0];

export interface ReadyOptions {
  readonly claims: Claims;
  readonly me: () => Promise<string>;
  /** Whose issues are work as they are; others' are once somebody labels them so. */
  readonly isWork: (found: Found) => Promise<boolean>;
}

/** What may start now, best first. With `resume`, first what was begun: claims of runs that are over, failed, stopped. */
export async function readReady(github: Github, query: Query, options: ReadyOptions): Promise<Issue[]> {
  const open = await listIssues(github, { state: "open" });
  const known = new Known(github, open);
  const me = await options.me();
  const [begun, fresh]: [Found[], Found[]] = [[], []];
  for (const found of byPriority(open.filter((each) => !each.isPull && !isEpic(each) && mayBe(each, query.scope)))) {
    const rank = await rankOf(found, { ...options, login: me, resume: query.resume });
    if (rank === "never" || !(await options.isWork(found))) continue;
    if (!(await known.isIn(found, query.scope)) || (await known.waits(found))) continue;
    (rank === "begun" ? begun : fresh).push(found);
    // Only a resume has to see them all: what was begun may be the least urgent.
    if (!query.resume && fresh.length >= query.limit) break;
  }
  return [...begun, ...fresh].slice(0, query.limit).map(toIssue);
}

/** The older first among equals: lists are in that order. */
function byPriority(list: readonly Found[]): Found[] {
  return list.toSorted((one, other) => priorityOf(one) - priorityOf(other));
}

type Ranking = ReadyOptions & { readonly login: string; readonly resume: boolean };

async function rankOf(found: Found, { claims, login, resume }: Ranking): Promise<"never" | "begun" | "fresh"> {
  const status = statusOf(found);
  if (status === "claimed") {
    return resume && !isReassigned(found, login) && (await claims.isIdle(found)) ? "begun" : "never";
  }
  if (status === "waiting_for_response" || found.assignees.some((assignee) => assignee !== login)) return "never";
  if (status === "failed") return resume ? "begun" : "never";
  return resume && found.labels.includes(labels.stopped) ? "begun" : "fresh";
}

function mayBe({ id }: Found, scope: Scope): boolean {
  return scope.type !== "ids" || scope.ids.some((each) => each.replace(/^#/, "") === id);
}

/** What is known of other issues: the open ones all, others when they are asked for. */
export class Known {
  readonly #github: Github;
  readonly #open: ReadonlyMap<string, Found>;
  readonly #others = new Map<string, Promise<Found | null>>();

  constructor(github: Github, open: readonly Found[]) {
    this.#github = github;
    this.#open = new Map(open.map((found) => [found.id, found]));
  }

  #find(id: string): Promise<Found | null> {
    const near = this.#open.get(id);
    if (near) return Promise.resolve(near);
    const asked = this.#others.get(id) ?? lookUp(this.#github, id);
    this.#others.set(id, asked);
    return asked;
  }

  /** What it depends on must be closed; what does not exist is not. */
  async waits({ deps, blockedBy }: Found): Promise<boolean> {
    if (blockedBy > 0) return true;
    for (const dep of deps) {
      const found = await this.#find(dep);
      if (found === null || found.isOpen) return true;
    }
    return false;
  }

  async isIn(found: Found, scope: Scope): Promise<boolean> {
    switch (scope.type) {
      case "all":
        return true;
      case "ids":
        return mayBe(found, scope);
      case "orphans":
        return found.parent === null;
      case "epic":
        return this.#isBelow(scope.epic.replace(/^#/, ""), found.parent);
    }
  }

  /** Whoever named two issues as each other's parent gets an end all the same. */
  async #isBelow(epic: string, parent: string | null): Promise<boolean> {
    const seen = new Set<string>();
    for (let above = parent; above !== null && !seen.has(above); above = (await this.#find(above))?.parent ?? null) {
      if (above === epic) return true;
      seen.add(above);
    }
    return false;
  }
}
