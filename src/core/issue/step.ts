import type { Ledger } from "../finding.js";
import type { LedgerChange } from "../ledger/ledger.js";
import type { Next } from "../next.js";
import type { ReportBody, RunReport } from "../report.js";
import type { IssueEffect } from "./effects.js";
import type { Snapshot } from "./events.js";
import type { IssuePolicy } from "./policy.js";
import type { Ending, IssueLife, IssueState, Owed, Phase } from "./state.js";

export type IssueNext = Next<IssueLife, IssueEffect, RunReport>;

/**
 * One transition being made. It lives for one event: phases write to it, the machine reads the result off it. What is
 * owed is mirrored in the state, so that a result nobody waits for is known as such and every effect can be ended.
 */
export class Step {
  state: IssueState;
  ledger: Ledger;
  /** A phase to enter before the transition is over; phases never call each other. */
  entering: Phase | null = null;
  /** The uncommitted paths of the snapshot that came with this event. */
  dirty: readonly string[] = [];
  readonly policy: IssuePolicy;
  readonly at: number;
  private readonly effects: IssueEffect[] = [];
  private readonly cancelled: string[] = [];
  private readonly reports: RunReport[] = [];

  constructor(policy: IssuePolicy, life: IssueLife, at: number) {
    this.policy = policy;
    this.state = life.state;
    this.ledger = life.ledger;
    this.at = at;
  }

  set(patch: Partial<IssueState>): void {
    this.state = { ...this.state, ...patch };
  }
  go(phase: Phase): void {
    this.set({ phase });
    this.entering = phase;
  }
  report(body: ReportBody): void {
    this.reports.push(this.policy.trigger ? body : { ...body, issue_id: this.state.issueId });
  }
  log(level: "info" | "warn" | "error", text: string): void {
    this.report({ type: "log", level, text });
  }
  /** Takes over a new ledger; returns the ids that were raised. */
  apply(change: LedgerChange): string[] {
    this.ledger = change.ledger;
    this.reports.push(...(this.policy.trigger ? change.reports.map(withoutIssue) : change.reports));
    return change.reports.flatMap((report) => (report.type === "finding-raised" ? [report.finding] : []));
  }

  owe(effect: IssueEffect, slot?: string): void {
    this.effects.push(effect);
    const folder = effect.kind === "turn" || effect.kind === "command" ? { folder: effect.folder } : {};
    const entry: Owed = { key: effect.key, kind: effect.kind, ...folder, ...(slot === undefined ? {} : { slot }) };
    this.set({ owed: [...this.state.owed, entry] });
  }
  /** The effect with this key is settled; null when nobody waits for it. */
  settle(key: string): Owed | null {
    const entry = this.state.owed.find((owed) => owed.key === key);
    if (!entry) return null;
    this.set({ owed: this.state.owed.filter((owed) => owed !== entry) });
    return entry;
  }
  cancel(key: string): void {
    if (this.settle(key)) this.cancelled.push(key);
  }
  oweTimer(what: string, until: number, slot?: string): string {
    const timers = this.state.timers + 1;
    const key = `timer:${what}:${timers}`;
    this.set({ timers });
    this.owe({ kind: "timer", key, until }, slot);
    return key;
  }
  oweSignal(): void {
    const signals = this.state.signals + 1;
    this.set({ signals });
    this.owe({ kind: "wait", key: `signal:${signals}` });
  }
  /** Winds down an owed turn or command; it stays owed until it settles as stopped. */
  oweStop(target: Owed, how: "clean" | "patient" | "kill"): void {
    if (target.told || target.folder === undefined) return;
    const told = this.state.owed.map((owed) => (owed.key === target.key ? { ...owed, told: true } : owed));
    this.set({ owed: told });
    this.owe({ kind: "stop", key: `stop:${target.key}`, folder: target.folder, how });
  }
  newFolder(what: string): string {
    const folders = this.state.folders + 1;
    this.set({ folders });
    return `${String(folders).padStart(2, "0")}-${what}`;
  }

  /** The tree as a turn or Ratchet's own commit left it. */
  look(snapshot: Snapshot): void {
    this.dirty = snapshot.dirty;
    this.set({
      work: {
        head: snapshot.head,
        tree: snapshot.tree,
        filesTree: snapshot.filesTree,
        commits: snapshot.commits,
        dirtyCount: snapshot.dirtyCount,
        docsOnly: snapshot.docsOnly,
        containsBase: snapshot.containsBase,
        named: snapshot.namedCommitInTarget,
      },
    });
  }

  /** Decides how the life ends. The first ending stands. */
  end(ending: Ending): void {
    if (this.state.ending) return;
    this.set({ ending: { ...ending, message: oneLine(ending.message) } });
    this.go("closing");
  }
  fail(error: string, message: string): void {
    this.end({ status: "failed", message, error, commit: null });
  }

  next(): IssueNext {
    const gone = new Set(this.cancelled);
    return {
      state: { state: this.state, ledger: this.ledger },
      effects: this.effects.filter((effect) => !gone.has(effect.key)),
      cancel: this.cancelled,
      reports: this.reports,
    };
  }
}

/** A ledger names an issue; that of the run itself is none. */
function withoutIssue({ issue_id: _, ...body }: RunReport): RunReport {
  return body;
}

const messageMax = 500;
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > messageMax ? `${line.slice(0, messageMax - 1)}…` : line;
}
