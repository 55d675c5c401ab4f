import { Account } from "../account.js";
import type { LedgerChange } from "../ledger/ledger.js";
import type { Next } from "../next.js";
import type { ReportBody, RunReport } from "../report.js";
import type { PullRequestSettings } from "../settings.js";
import type { PrEffect, PrNote } from "./effects.js";
import { type Delivery, isFollowed, type PrIdentity, type PrLife, type PrState, type PrTask } from "./state.js";

export interface PrPolicy {
  readonly pr: PrIdentity;
  readonly settings: PullRequestSettings;
}
export type PrNext = Next<PrLife, PrEffect, RunReport>;

/** One transition being made: what it decides is written here and read off at its end. */
export class PrStep {
  life: PrLife;
  readonly policy: PrPolicy;
  readonly at: number;
  private readonly account = new Account<PrEffect, PrTask>({
    read: () => this.state.owed,
    write: (owed) => this.set({ owed }),
  });
  private readonly reports: RunReport[] = [];

  constructor(policy: PrPolicy, life: PrLife, at: number) {
    this.policy = policy;
    this.life = life;
    this.at = at;
  }

  get state(): PrState {
    return this.life.state;
  }
  set(patch: Partial<PrState>): void {
    this.life = { ...this.life, state: { ...this.life.state, ...patch } };
  }
  deliver(id: string, delivery: Delivery): void {
    this.set({ deliveries: { ...this.state.deliveries, [id]: delivery } });
  }
  /** Takes over a new ledger; returns the finding that was raised. */
  apply(change: LedgerChange): string | null {
    this.life = { ...this.life, ledger: change.ledger };
    this.reports.push(...change.reports);
    return change.reports.flatMap((report) => (report.type === "finding-raised" ? [report.finding] : []))[0] ?? null;
  }
  report(body: ReportBody): void {
    this.reports.push({ ...body, issue_id: this.policy.pr.issueId });
  }
  log(level: "info" | "warn", text: string): void {
    this.report({ type: "log", level, text });
  }

  /** Kept in the state until it settles: one that breaks is owed again, under a key of its own. */
  task(task: WithoutKey<PrTask>): void {
    const tasks = this.state.tasks + 1;
    const owed: PrTask = { ...task, key: `${task.kind}:${tasks}` };
    this.set({ tasks });
    this.account.owe(owed, owed);
  }
  note(note: PrNote): void {
    this.task({ kind: "note", note });
  }
  settle(key: string): PrTask | null {
    return this.account.settle(key);
  }
  cancel(key: string): void {
    this.account.cancel(key);
  }
  /** Tried again with the next look. */
  putOff(task: PrTask): void {
    this.set({ undone: [...this.state.undone, task] });
  }
  redo(): void {
    const { undone } = this.state;
    this.set({ undone: [] });
    for (const task of undone) this.task(task);
  }
  wait(): void {
    const waits = this.state.waits + 1;
    this.set({ waits });
    this.account.owe({ kind: "wait", key: `wait:${waits}` });
  }
  /** Looks now, or once more after the look that is under way. */
  look(): void {
    if (!isFollowed(this.state)) return;
    if (this.state.looking) {
      this.set({ lookAgain: true });
      return;
    }
    this.dropTimer();
    const looks = this.state.looks + 1;
    this.set({ looks, looking: true, lookAgain: false });
    this.account.owe({ kind: "look", key: `look:${looks}` });
  }
  lookLater(delayMs: number): void {
    const timers = this.state.timers + 1;
    const key = `timer:${timers}`;
    this.set({ timers, timer: key });
    this.account.owe({ kind: "timer", key, until: this.at + delayMs });
  }
  dropTimer(): void {
    if (this.state.timer !== null) this.account.drop(this.state.timer);
    this.set({ timer: null });
  }
  /** Nothing is waited for any more. */
  close(): void {
    this.dropTimer();
    this.account.drop(`wait:${this.state.waits}`);
  }

  next(): PrNext {
    return this.account.next(this.life, this.reports);
  }
}

type WithoutKey<T> = T extends unknown ? Omit<T, "key"> : never;
