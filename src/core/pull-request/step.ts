import type { LedgerChange } from "../ledger/ledger.js";
import type { Next } from "../next.js";
import type { ReportBody, RunReport } from "../report.js";
import type { PullRequestSettings } from "../settings.js";
import type { PrEffect, PrNote } from "./effects.js";
import type { Delivery, PrIdentity, PrLife, PrState, PrTask } from "./state.js";

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
  private readonly effects: PrEffect[] = [];
  private readonly cancelled: string[] = [];
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
    this.set({ tasks, owed: [...this.state.owed, owed] });
    this.effects.push(owed);
  }
  note(note: PrNote): void {
    this.task({ kind: "note", note });
  }
  settle(key: string): PrTask | null {
    const task = this.state.owed.find((one) => one.key === key) ?? null;
    this.set({ owed: this.state.owed.filter((one) => one !== task) });
    return task;
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
    this.effects.push({ kind: "wait", key: `wait:${waits}` });
  }
  /** Looks now, or once more after the look that is under way. */
  look(): void {
    if (this.state.phase !== "following") return;
    if (this.state.looking) {
      this.set({ lookAgain: true });
      return;
    }
    this.dropTimer();
    const looks = this.state.looks + 1;
    this.set({ looks, looking: true, lookAgain: false });
    this.effects.push({ kind: "look", key: `look:${looks}` });
  }
  lookLater(delayMs: number): void {
    const timers = this.state.timers + 1;
    const key = `timer:${timers}`;
    this.set({ timers, timer: key });
    this.effects.push({ kind: "timer", key, until: this.at + delayMs });
  }
  dropTimer(): void {
    if (this.state.timer !== null) this.cancelled.push(this.state.timer);
    this.set({ timer: null });
  }
  /** Nothing is waited for any more. */
  close(): void {
    this.dropTimer();
    this.cancelled.push(`wait:${this.state.waits}`);
  }

  next(): PrNext {
    const gone = new Set(this.cancelled);
    const effects = this.effects.filter(({ key }) => !gone.has(key));
    return { state: this.life, effects, cancel: this.cancelled, reports: this.reports };
  }
}

type WithoutKey<T> = T extends unknown ? Omit<T, "key"> : never;
