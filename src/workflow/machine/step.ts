import { Account } from "../../core/account.js";
import { clip } from "../../core/clip.js";
import type { Ledger } from "../../core/finding.js";
import { folderName, numberedFolder } from "../../core/folder-name.js";
import type { LedgerChange } from "../../core/ledger/ledger.js";
import type { Next } from "../../core/next.js";
import type { ReportBody, RunReport } from "../../core/report.js";
import type { Stage } from "../graph.js";
import type { WorkflowEffect } from "./effects.js";
import type { GraphIndex } from "./graph-index.js";
import type { WorkflowPolicy } from "./policy.js";
import {
  type Ending,
  type Execution,
  type Owed,
  recordOf,
  type StageRecord,
  type Token,
  type Values,
  type WorkflowLife,
  type WorkflowState,
} from "./state.js";
import { writeValues } from "./values.js";

export type WorkflowNext = Next<WorkflowLife, WorkflowEffect, RunReport>;

/** One transition being made. It lives for one event: the concerns write to it, the machine reads the result off it. */
export class Step {
  state: WorkflowState;
  ledger: Ledger;
  readonly policy: WorkflowPolicy;
  readonly index: GraphIndex;
  readonly at: number;
  private readonly account = new Account<WorkflowEffect, Owed>({
    read: () => this.state.owed,
    write: (owed) => this.set({ owed }),
  });
  private readonly reports: RunReport[] = [];

  constructor(by: { readonly policy: WorkflowPolicy; readonly index: GraphIndex }, life: WorkflowLife, at: number) {
    this.policy = by.policy;
    this.index = by.index;
    this.state = life.state;
    this.ledger = life.ledger;
    this.at = at;
  }

  set(patch: Partial<WorkflowState>): void {
    this.state = { ...this.state, ...patch };
  }
  report(body: ReportBody): void {
    const { issueId, calls = [] } = this.policy;
    const called = calls.length === 0 ? {} : { calls };
    this.reports.push(issueId === null ? { ...body, ...called } : { ...body, ...called, issue_id: issueId });
  }
  log(level: "info" | "warn" | "error", text: string): void {
    this.report({ type: "log", level, text });
  }
  /** A workflow of its own belongs to no issue: its findings carry the run's id, its reports none. */
  apply(change: LedgerChange): void {
    this.ledger = change.ledger;
    for (const { issue_id: _, ...body } of change.reports) this.report(body);
  }
  /** The same, of what a called workflow has told already. */
  applyCopied({ ledger, reports }: LedgerChange): void {
    this.apply({ ledger, reports: reports.map(asCopied) });
  }
  /** What is closed here by this workflow's own word: a copy is told by the name that it was raised by as well. */
  applyWithNames({ ledger, reports }: LedgerChange): void {
    const names = new Map(ledger.findings.map(({ id, raised_as }) => [id, raised_as]));
    const told = reports.flatMap((report): RunReport[] => {
      if (report.type !== "finding-resolved") return [report];
      const name = names.get(report.finding);
      return name === undefined ? [report] : [asCopied(report), { ...report, finding: name }];
    });
    this.apply({ ledger, reports: told });
  }

  stage(id: string): Stage | null {
    return this.index.stages.get(id) ?? null;
  }
  record(id: string): StageRecord {
    return recordOf(this.state, id);
  }
  setRecord(id: string, record: StageRecord) {
    const { [id]: known, ...stages } = this.state.stages;
    const { passed, passedOrder = [] } = this.state;
    if (isPassed(record)) {
      const orders = passed.map((_, place) => passedOrder[place] ?? "");
      return this.set({ stages, passed: [...passed, id], passedOrder: [...orders, record.order ?? ""] });
    }
    this.set({ stages: { ...stages, [id]: record } });
    const isMore = record.visits > 1 || record.askedAgain !== undefined;
    const place = isMore && !known ? passed.indexOf(id) : -1;
    if (place >= 0) this.set({ passed: passed.toSpliced(place, 1), passedOrder: passedOrder.toSpliced(place, 1) });
  }

  token(id: string): Token | null {
    return this.state.tokens.find((token) => token.id === id) ?? null;
  }
  setToken(token: Token): Token {
    const { tokens } = this.state;
    const isKnown = tokens.some(({ id }) => id === token.id);
    this.set({ tokens: isKnown ? tokens.map((one) => (one.id === token.id ? token : one)) : [...tokens, token] });
    return token;
  }
  dropToken(id: string): void {
    this.set({ tokens: this.state.tokens.filter((token) => token.id !== id) });
  }
  /** What a stage leaves in the context; a branch keeps its own until the join. */
  write(tokenId: string, values: Values): void {
    const token = this.token(tokenId);
    if (!token || token.parent === null) this.set(writeValues(this.state, values));
    else this.setToken({ ...token, values: { ...token.values, ...values } });
  }

  owe(effect: WorkflowEffect, about: Pick<Owed, "token" | "timer"> = {}): void {
    const folder = effect.kind === "turn" || effect.kind === "command" ? { folder: effect.folder } : {};
    const child = effect.kind === "child" ? { child: effect.child } : {};
    const token = "token" in effect ? { token: effect.token } : {};
    const entry: Owed = { key: effect.key, kind: effect.kind, ...folder, ...child, ...token, ...about };
    this.account.owe(effect, entry);
  }
  /** The effect with this key is settled; null when nobody waits for it. */
  settle(key: string): Owed | null {
    return this.account.settle(key);
  }
  cancel(key: string): void {
    this.account.cancel(key);
  }
  /** What a token waits for. */
  owedBy(tokenId: string): Owed[] {
    return this.state.owed.filter((owed) => owed.token === tokenId);
  }
  oweTimer(timer: NonNullable<Owed["timer"]>, token: string, until: number): void {
    const timers = this.state.timers + 1;
    this.set({ timers });
    this.owe({ kind: "timer", key: `timer:${timer}:${timers}`, until }, { token, timer });
  }
  oweSignal(): void {
    const signals = this.state.signals + 1;
    this.set({ signals });
    this.owe({ kind: "wait", key: `signal:${signals}` });
  }
  /** Winds down something owed; it stays owed until it settles. */
  oweStop(target: Owed): void {
    if (target.told) return;
    this.account.replace({ ...target, told: true });
    const key = `stop:${target.key}`;
    if (target.child !== undefined) this.owe({ kind: "tell", key, child: target.child, signal: "cancel" });
    else if (target.kind === "turn") this.owe({ kind: "stop", key, folder: target.folder ?? "", how: "clean" });
    else if (target.kind === "command") this.owe({ kind: "stop", key, folder: target.folder ?? "", how: "kill" });
  }
  /** A called workflow is told that a budget is used up. */
  oweEnd(target: Owed): void {
    const { child, key, ending, told } = target;
    if (ending || told || child === undefined) return;
    this.account.replace({ ...target, ending: true });
    this.owe({ kind: "tell", key: `end:${key}`, child, signal: "budget", reason: this.state.halt?.reason ?? "" });
  }
  newFolder(stage: string): string {
    const folders = this.state.folders + 1;
    this.set({ folders });
    return numberedFolder(folders, folderName(stage));
  }

  /** Everything is wound down, then the workflow ends like this. The first reason stands. */
  halt(ending: Ending): void {
    if (this.state.halt) return;
    this.set({ halt: { ...ending, reason: ending.reason === null ? null : clip(ending.reason, 500) } });
  }

  next(): WorkflowNext {
    return this.account.next({ state: this.state, ledger: this.ledger }, this.reports);
  }
}

function asCopied(report: RunReport): RunReport {
  const isFinding = report.type === "finding-raised" || report.type === "finding-resolved";
  return isFinding ? { ...report, copied: true } : report;
}

function isPassed({ visits, outcome, answer, askedAgain }: StageRecord): boolean {
  return visits === 1 && outcome === "success" && answer === undefined && askedAgain === undefined;
}

/** A new execution, with nothing used yet. */
export function newExecution(startedAt: number, folder: string): Execution {
  return {
    startedAt,
    folder,
    session: null,
    next: "same",
    repeats: 0,
    transient: 0,
    limited: 0,
    idle: 0,
    lost: 0,
    restarted: false,
    seconds: 0,
    usage: null,
  };
}

/** A further execution is a new conversation, but the same visit pays for all and has said what was said in it. */
export function usedOnly(run: Execution | null): Execution | null {
  if (run === null) return null;
  const said = run.said === undefined ? {} : { said: run.said };
  return { ...newExecution(run.startedAt, ""), seconds: run.seconds, usage: run.usage, ...said };
}
