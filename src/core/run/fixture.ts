import type { EndingWord } from "../issue/events.js";
import type { RunReport } from "../report.js";
import type { Trigger, TriggerSettings } from "../settings.js";
import type { IssueStart, RunEffect, RunEvent } from "./effects.js";
import { newRun, type RunPolicy, type RunState, runMachine } from "./machine.js";

export type Ended = Extract<RunEvent, { type: "child-ended" }>;

/** A run and the issues that may be picked; lives end when the test says so. */
export class Run {
  state: RunState = newRun();
  readonly owed = new Map<string, RunEffect>();
  readonly history: RunEffect[] = [];
  readonly reports: RunReport[] = [];
  /** It was told to end: from now on every arrival says so. */
  ending: EndingWord | null = null;
  private readonly policy: RunPolicy;
  constructor(policy: Partial<RunPolicy> = {}) {
    this.policy = { scope: { type: "all" }, resume: false, strict: false, fresh: false, maxIssues: null, ...policy };
    this.arrive({ type: "started" });
  }
  arrive(event: RunEvent): this {
    if ("key" in event) this.owed.delete(event.key);
    const ending = this.ending === null ? {} : { ending: this.ending };
    const next = runMachine(this.policy)(this.state, { ...event, ...ending, at: 1 });
    this.state = next.state;
    for (const key of next.cancel ?? []) this.owed.delete(key);
    for (const effect of next.effects) {
      if (this.history.some((one) => one.key === effect.key)) throw new Error(`${effect.key} is owed twice`);
      this.history.push(effect);
      this.owed.set(effect.key, effect);
    }
    this.reports.push(...(next.reports ?? []));
    return this;
  }
  prepared(): this {
    return this.arrive({ type: "prepared", key: "prepare", target: "main", tip: "c0", projectId: "p", repoPath: "/r" });
  }
  pick(issueId: string): this {
    const start: IssueStart = { issueId, title: issueId, life: 1, resume: null };
    return this.arrive({ type: "picked", key: this.picking(), start });
  }
  none(budget?: string): this {
    return this.arrive({ type: "none-left", key: this.picking(), ...(budget === undefined ? {} : { budget }) });
  }
  /** The same, of a tracker that tells of changes by itself. */
  noneHeard(): this {
    return this.arrive({ type: "none-left", key: this.picking(), cursor: 7, hears: true });
  }
  end(issueId: string, status: Ended["status"], patch: Partial<Ended> = {}): this {
    const key = `child:${issueId}:1`;
    return this.arrive({
      type: "child-ended",
      key,
      issueId,
      status,
      commit: null,
      trackerOwed: false,
      abort: false,
      ...patch,
    });
  }
  signal(name: "drain" | "stop"): this {
    const wait = [...this.owed.values()].find((effect) => effect.kind === "wait");
    return this.arrive({ type: "signal", key: wait?.key ?? "", signal: { name } });
  }
  picking(): string {
    return [...this.owed.values()].find((effect) => effect.kind === "pick")?.key ?? "no pick is owed";
  }
  told(): string[] {
    return [...this.owed.values()].flatMap((effect) =>
      effect.kind === "tell" ? [`${effect.issueId} ${effect.signal}`] : [],
    );
  }
  finished() {
    const last = this.reports.at(-1);
    return last?.type === "run-finished" ? last : undefined;
  }
}

/** Settings of triggers for tests of the run's machine. */
const trigger: Trigger = { failure_mode: "continue", max_retries: 0, timeout: 1800, commands: [], code_review: null };

export function triggers(patch: Partial<TriggerSettings>): TriggerSettings {
  return { session_end: null, run_end: null, epic_completion: null, periodic: null, ...patch };
}
export function runEnd(fire_on: "success" | "failure" | "both" = "success"): TriggerSettings["run_end"] {
  return { ...trigger, fire_on };
}
export function periodic(interval: number): TriggerSettings["periodic"] {
  return { ...trigger, interval };
}
export function epicCompletion(
  epic_depth: "top_level" | "all" = "top_level",
  fire_on: "success" | "failure" | "both" = "success",
): TriggerSettings["epic_completion"] {
  return { ...trigger, epic_depth, fire_on };
}
