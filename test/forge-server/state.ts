import { randomBytes } from "node:crypto";

/** What the forge knows. Branches and commits are not here: they are read from the bare repository each time. */
export interface Repo {
  readonly owner: string;
  readonly name: string;
  readonly gitDir: string;
  readonly issues: Map<number, Issue>;
  readonly comments: Comment[];
  readonly reviews: Review[];
  readonly inline: Inline[];
  readonly checkRuns: CheckRun[];
  readonly statuses: Status[];
  readonly labels: Map<string, number>;
  readonly protection: Map<string, Protection>;
  /** Ends of CI jobs' logs, by the job's id. */
  readonly logs: Map<number, string>;
}
export interface Issue {
  readonly number: number;
  readonly id: number;
  title: string;
  body: string | null;
  /** null: the account was deleted. */
  author: string | null;
  state: "open" | "closed";
  stateReason: string | null;
  readonly createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  labels: string[];
  assignees: string[];
  readonly pull: Pull | null;
}
export interface Pull {
  readonly head: string;
  readonly base: string;
  draft: boolean;
  /** As last seen: a branch may be deleted. */
  headSha: string;
  baseSha: string;
  merged: { readonly at: string; readonly by: string; readonly sha: string } | null;
  /** Worked out for these two commits; asked for others, it is not known yet. */
  trial: { readonly of: string; readonly ok: boolean } | null;
}
export interface Comment {
  readonly id: number;
  readonly issue: number;
  author: string | null;
  body: string;
  readonly createdAt: string;
  updatedAt: string;
}
export interface Review {
  readonly id: number;
  readonly pull: number;
  author: string | null;
  readonly body: string;
  state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED" | "PENDING";
  readonly commit: string;
  readonly submittedAt: string;
}
export interface Inline {
  readonly id: number;
  readonly pull: number;
  readonly review: number | null;
  author: string | null;
  readonly path: string;
  readonly line: number | null;
  readonly startLine: number | null;
  readonly about: "line" | "file";
  readonly replyTo: number | null;
  readonly body: string;
  readonly commit: string;
  readonly createdAt: string;
}
export interface CheckRun {
  readonly id: number;
  readonly name: string;
  readonly sha: string;
  readonly app: string;
  status: string;
  conclusion: string | null;
  readonly detailsUrl: string | null;
  output: { readonly title: string | null; readonly summary: string | null; readonly text: string | null };
  readonly startedAt: string;
  completedAt: string | null;
}
export interface Status {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: string;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly createdAt: string;
}
export interface Protection {
  readonly contexts: readonly string[];
  readonly approvals: number;
}
export interface Person {
  readonly login: string;
  readonly token: string;
  readonly association: string;
  readonly type: "User" | "Bot";
}

export class State {
  readonly repo: Repo;
  readonly people = new Map<string, Person>();
  #ids = 1000;
  #numbers = 0;
  #aheadMs = 0;

  constructor(owner: string, name: string, gitDir: string) {
    const lists = { comments: [], reviews: [], inline: [], checkRuns: [], statuses: [] };
    const maps = { issues: new Map(), labels: new Map(), protection: new Map(), logs: new Map() };
    this.repo = { owner, name, gitDir, ...lists, ...maps };
    this.addPerson(owner, "OWNER");
  }

  addPerson(login: string, association: string): Person {
    const known = [...this.people.values()].find((person) => person.login === login);
    if (known) return known;
    const token = `token-of-${login}-${randomBytes(6).toString("hex")}`;
    const person: Person = { login, token, association, type: login.endsWith("[bot]") ? "Bot" : "User" };
    this.people.set(token, person);
    return person;
  }

  associationOf(login: string | null): string {
    return [...this.people.values()].find((person) => person.login === login)?.association ?? "NONE";
  }

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Like GitHub: to the second. */
  time(): string {
    return new Date(this.now()).toISOString().replace(/\.\d+Z$/, "Z");
  }

  passTime(ms: number): void {
    this.#aheadMs += ms;
  }

  nextId(): number {
    return ++this.#ids;
  }

  nextNumber(): number {
    return ++this.#numbers;
  }

  touch(number: number): void {
    const issue = this.repo.issues.get(number);
    if (issue) issue.updatedAt = this.time();
  }
}
