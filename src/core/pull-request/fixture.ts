import { emptyLedger } from "../ledger/ledger.js";
import type { PullRequestSettings } from "../settings.js";
import type { PrEffect } from "./effects.js";
import type { Looked, PrEvent, PrSignal, SeenCheck, SeenItem, SeenRemark } from "./events.js";
import { pullRequestMachine } from "./machine.js";
import { newPullRequest, type PrLife } from "./state.js";
import type { PrNext } from "./step.js";

const prSettings: PullRequestSettings = {
  max_rework_cycles: null,
  comment_timeout_seconds: 30,
  max_inline_comments: 50,
  rework_on_comment: true,
  trusted: ["OWNER", "MEMBER", "COLLABORATOR"],
  review: { enabled: false },
  merge: "none",
  poll_seconds: 60,
};

const pr = {
  number: 7,
  url: "https://forge/acme/shop/pull/7",
  repo: "acme/shop",
  branch: "ratchet/shop-1",
  baseBranch: "main",
  projectId: "shop",
  issueId: "shop-1",
  title: "Round prices",
};

/** A forge and a board by hand: what the next look will show, and all that the machine has wanted so far. */
export class PrWorld {
  life: PrLife = { state: newPullRequest("aaa"), ledger: emptyLedger("shop-1") };
  owed = new Map<string, PrEffect>();
  readonly done: PrEffect[] = [];
  readonly reports: { readonly type: string }[] = [];
  /** What the board has added to items. */
  readonly joined = new Set<string>();
  now = 1_000_000;
  pullRequest: Looked["pullRequest"] = {
    state: "open",
    head: "aaa",
    base: "bbb",
    mergeable: true,
    mergeCommit: null,
    author: "ratchet",
    association: "NONE",
    own: true,
    draft: false,
  };
  remarks: SeenRemark[] = [];
  checks: SeenCheck[] = [];
  items: SeenItem[] = [{ ...review(0), status: "waiting_for_response" }];
  failed: Looked["failed"] = [];
  escalated = false;
  limit: Looked["limit"] = { max: 2, from: "project", ignored: null };
  private readonly machine;

  constructor(settings: Partial<PullRequestSettings> = {}) {
    this.machine = pullRequestMachine({ pr, settings: { ...prSettings, ...settings } });
    this.send({ type: "started" });
  }

  send(event: PrEvent): PrNext {
    this.now += 1000;
    const seen = JSON.parse(JSON.stringify({ ...event, at: this.now })) as PrEvent & { readonly at: number };
    const next = this.machine(JSON.parse(JSON.stringify(this.life)) as PrLife, seen);
    if ("key" in event) this.owed.delete(event.key);
    for (const key of next.cancel ?? []) this.owed.delete(key);
    for (const effect of next.effects) {
      if (this.owed.has(effect.key)) throw new Error(`${effect.key} is owed twice`);
      this.owed.set(effect.key, effect);
    }
    this.life = next.state;
    this.reports.push(...(next.reports ?? []));
    return next;
  }

  /** Looks at the world as it is now, then does everything that was wanted. */
  look(): this {
    const waiting = this.find("wait");
    if (!this.find("look") && waiting) this.signal({ name: "look" });
    while (this.find("look")) {
      const effect = this.find("look");
      if (effect) this.send(this.looked(effect.key));
      for (const task of [...this.owed.values()]) this.perform(task);
    }
    return this;
  }
  signal(signal: PrSignal): this {
    const wait = this.find("wait");
    if (wait) this.send({ type: "signal", key: wait.key, signal });
    return this;
  }
  looked(key: string): Looked {
    const { pullRequest, remarks, checks, failed, items, escalated, limit } = this;
    const path = `/looks/${key}`;
    return { type: "looked", key, pullRequest, remarks, checks, failed, cursor: "c", path, items, escalated, limit };
  }
  protected perform(effect: PrEffect): void {
    const { key, kind } = effect;
    if (kind === "look" || kind === "wait" || kind === "timer") return;
    this.done.push(effect);
    switch (kind) {
      case "cycle":
        this.items = this.items.map((one) => (one.id === effect.predecessor ? { ...one, status: "completed" } : one));
        this.items = [...this.items, rework(effect.cycle)];
        this.send({ type: "cycle-made", key, item: rework(effect.cycle).id });
        return;
      case "join": {
        const isFree = this.items.some(({ id, status }) => id === effect.item && status === "available");
        if (isFree) this.joined.add(effect.join);
        this.send({ type: "joined", key, taken: this.joined.has(effect.join) });
        return;
      }
      case "escalate":
        this.escalated = true;
        this.send({ type: "escalation-told", key });
        return;
      case "note":
        this.send({ type: "noted", key });
        return;
      case "post":
        this.send({ type: "posted", key, id: "1" });
        return;
      case "merge":
        this.pullRequest = { ...this.pullRequest, state: "merged", mergeCommit: "mmm" };
        this.send({ type: "merge-ended", key, outcome: { type: "merged", commit: "mmm" } });
        return;
      case "reopen":
        this.items = [...this.items, { ...review(effect.cycle), id: `again-${effect.times}` }];
        this.send({ type: "noted", key });
        return;
      case "review":
        this.items = this.items.map((one) => (one.id === effect.predecessor ? { ...one, status: "completed" } : one));
        this.items = [...this.items, { ...review(effect.cycle), id: `again-${effect.times}` }];
        this.send({ type: "noted", key });
        return;
      case "finish":
        this.items = this.items.map((one) => ({ ...one, status: "completed" as const }));
        this.send({ type: "finished", key });
    }
  }

  /** The run has worked it off: pushed, and a review item made. */
  push(cycle: number, commit: string): this {
    this.pullRequest = { ...this.pullRequest, head: commit };
    this.set(rework(cycle).id, { status: "completed", commit });
    this.items = [...this.items, { ...review(cycle), status: "waiting_for_response" }];
    return this;
  }
  set(id: string, patch: Partial<SeenItem>): this {
    this.items = this.items.map((one) => (one.id === id ? { ...one, ...patch } : one));
    return this;
  }
  find<K extends PrEffect["kind"]>(kind: K): Extract<PrEffect, { readonly kind: K }> | undefined {
    return [...this.owed.values()].find((one): one is Extract<PrEffect, { readonly kind: K }> => one.kind === kind);
  }
  all<K extends PrEffect["kind"]>(kind: K): Extract<PrEffect, { readonly kind: K }>[] {
    return this.done.filter((one): one is Extract<PrEffect, { readonly kind: K }> => one.kind === kind);
  }
}

export function isWaitingForPerson({ source, status }: SeenItem): boolean {
  return source === "rework" && status === "waiting_for_response";
}

export function rework(cycle: number): SeenItem {
  const id = `rework-shop-pr-7-cycle-${cycle}`;
  return { id, source: "rework", cycle, status: "available", commit: null, reason: null };
}
export function review(cycle: number): SeenItem {
  const id = `review-shop-pr-7${cycle === 0 ? "" : `-cycle-${cycle}`}`;
  return { id, source: "code_review", cycle, status: "available", commit: null, reason: null };
}

export function remark(id: string, more: Partial<SeenRemark> = {}): SeenRemark {
  const kind = id.startsWith("inline") ? "inline" : id.startsWith("review") ? "review" : "comment";
  const text = `words of ${id}`;
  return {
    id,
    kind,
    thread: kind === "inline" ? id.slice(7) : null,
    login: "ada",
    association: "MEMBER",
    own: false,
    verdict: kind === "review" ? "changes_requested" : null,
    commit: "aaa",
    at: "2026-01-01T00:00:00Z",
    digest: text,
    path: kind === "inline" ? "src/a.ts" : "",
    line: kind === "inline" ? 3 : null,
    body: { text },
    ...more,
  };
}
export function check(name: string, status: SeenCheck["status"], commit = "aaa"): SeenCheck {
  return {
    id: name,
    name,
    commit,
    status,
    required: true,
    ...(status === "failure" ? { body: { text: "boom" } } : {}),
  };
}
