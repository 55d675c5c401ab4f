import { Account } from "../account.js";
import type { EndingWord } from "../issue/events.js";
import type { Next } from "../next.js";
import type { ReportBody, RunReport } from "../report.js";
import type { TriggerSettings } from "../settings.js";
import type { RunEffect, RunOptions } from "./effects.js";
import type { RunState } from "./state.js";

export type RunNext = Next<RunState, RunEffect, RunReport>;

/** What a run is decided by and does not own. */
export interface RunPolicy extends RunOptions {
  readonly triggers?: TriggerSettings;
  /** How an epic that is due is completed: after a verification, without one, or (`later`) by another run. */
  readonly verify?: "now" | "later" | "never";
  /** It looks for epics that are due itself, and does not only follow its own issues. */
  readonly findsEpics?: boolean;
  /** How many issues may have begun and not ended. */
  readonly livesMax?: number;
  /** budgets.run.minutes; what turns cost is counted by whoever drives the run. */
  readonly minutes?: number | null;
}

/** One transition of a run being made; it lives for one event. */
export class RunStep {
  state: RunState;
  readonly policy: RunPolicy;
  private readonly account = new Account<RunEffect>();
  private readonly reports: RunReport[] = [];
  constructor(policy: RunPolicy, state: RunState) {
    this.policy = policy;
    this.state = state;
  }
  set(patch: Partial<RunState>): void {
    this.state = { ...this.state, ...patch };
  }
  report(body: ReportBody): void {
    this.reports.push(body);
  }
  log(level: "info" | "warn" | "error", text: string): void {
    this.report({ type: "log", level, text });
  }
  owe(effect: RunEffect): void {
    this.account.owe(effect);
  }
  cancel(key: string | null): void {
    if (key !== null) this.account.drop(key);
  }
  next(): RunNext {
    return this.account.next(this.state, this.reports);
  }
}

/** The hardest word of what the run was told, or of an abort that ends it. */
export function endingWord({ draining, stopping, aborting }: RunState): EndingWord | null {
  return stopping ? "stop" : aborting ? "abort" : draining ? "drain" : null;
}

/** Nothing new begins. */
export function isEnding(state: RunState): boolean {
  return endingWord(state) !== null;
}
