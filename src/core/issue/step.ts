import { Account } from "../account.js";
import { clip } from "../clip.js";
import type { Ledger } from "../finding.js";
import { numberedFolder } from "../folder-name.js";
import type { LedgerChange } from "../ledger/ledger.js";
import type { Next } from "../next.js";
import type { ReportBody, RunReport } from "../report.js";
import type { IssueEffect } from "./effects.js";
import type { Snapshot } from "./events.js";
import type { IssuePolicy } from "./policy.js";
import type { Ending, IssueLife, IssueState, Owed, Phase } from "./state.js";

export type IssueNext = Next<IssueLife, IssueEffect, RunReport>;

type LogDetails = Pick<Extract<ReportBody, { type: "log" }>, "untold">;

/** One transition being made. It lives for one event: phases write to it, the machine reads the result off it. */
export class Step {
  state: IssueState;
  ledger: Ledger;
  /** A phase to enter before the transition is over; phases never call each other. */
  entering: Phase | null = null;
  /** The uncommitted paths of the snapshot that came with this event. */
  dirty: readonly string[] = [];
  /** The submodules that it says others could not check out. */
  unpushed: readonly string[] = [];
  readonly policy: IssuePolicy;
  readonly at: number;
  private readonly account = new Account<IssueEffect, Owed>({
    read: () => this.state.owed,
    write: (owed) => this.set({ owed }),
  });
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
  log(level: "info" | "warn" | "error", text: string, more: LogDetails = {}): void {
    // A trigger has no issue whose name a reader would see before it.
    const isOwn = !this.policy.trigger || text.startsWith("[trigger] ");
    this.report({ type: "log", level, text: isOwn ? text : `run: ${text}`, ...more });
  }
  /** Takes over a new ledger; returns the ids that were raised. */
  apply(change: LedgerChange): string[] {
    this.ledger = change.ledger;
    this.reports.push(...(this.policy.trigger ? change.reports.map(withoutIssue) : change.reports));
    return change.reports.flatMap((report) => (report.type === "finding-raised" ? [report.finding] : []));
  }

  owe(effect: IssueEffect, slot?: string): void {
    const folder = effect.kind === "turn" || effect.kind === "command" ? { folder: effect.folder } : {};
    const entry: Owed = { key: effect.key, kind: effect.kind, ...folder, ...(slot === undefined ? {} : { slot }) };
    this.account.owe(effect, entry);
  }
  /** The effect with this key is settled; null when nobody waits for it. */
  settle(key: string): Owed | null {
    return this.account.settle(key);
  }
  cancel(key: string): void {
    this.account.cancel(key);
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
    this.account.replace({ ...target, told: true });
    this.owe({ kind: "stop", key: `stop:${target.key}`, folder: target.folder, how });
  }
  newFolder(what: string): string {
    const folders = this.state.folders + 1;
    this.set({ folders });
    return numberedFolder(folders, what);
  }

  /** The tree as a turn or Ratchet's own commit left it. */
  look(snapshot: Snapshot): void {
    const { dirty, unpushed = [] } = snapshot;
    this.dirty = dirty;
    this.unpushed = unpushed;
    this.set({
      ...(snapshot.containsBase ? this.#basesIn(snapshot) : {}),
      work: {
        head: snapshot.head,
        tree: snapshot.tree,
        filesTree: snapshot.filesTree,
        commits: snapshot.commits,
        dirtyCount: snapshot.dirtyCount,
        docsOnly: snapshot.docsOnly,
        containsBase: snapshot.containsBase,
        named: snapshot.namedCommitInTarget,
        ...(unpushed.length === 0 ? {} : { unpushedCount: unpushed.length }),
      },
    });
  }

  /** Whoever merged something of the target, and whenever: what would land is what comes on top of it. A trigger has its baseline. */
  #basesIn({ targetBase, merged }: Snapshot): Partial<IssueState> {
    const { unmerged, landing, reviewBase } = this.state;
    if (this.policy.trigger) return {};
    const isMerged = unmerged && (landing.demanded || merged === unmerged);
    if (!isMerged) return { reviewBase: targetBase ?? reviewBase };
    return { reviewBase: targetBase ?? unmerged, unmerged: null, landing: { ...landing, demanded: true } };
  }

  /** Decides how the life ends. The first ending stands. */
  end(ending: Ending): void {
    if (this.state.ending) return;
    this.set({ ending: { ...ending, message: clip(ending.message, messageMax) } });
    this.go("closing");
  }
  fail(error: string, message: string): void {
    this.end({ status: "failed", message, error, commit: null });
  }

  next(): IssueNext {
    return this.account.next({ state: this.state, ledger: this.ledger }, this.reports);
  }
}

/** A ledger names an issue; that of the run itself is none. */
function withoutIssue({ issue_id: _, ...body }: RunReport): RunReport {
  return body;
}

const messageMax = 500;
