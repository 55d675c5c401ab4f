import { emptyLedger } from "../../core/ledger/ledger.js";
import type { ReportBody, RunReport } from "../../core/report.js";
import type { Graph } from "../graph.js";
import { StatusReader } from "../status.js";
import type { StageCommandEffect, StageTurnEffect, WorkflowEffect } from "./effects.js";
import type {
  ChildFinding,
  StageCommandEnded,
  StageTurnEnded,
  WorkflowArrival,
  WorkflowEvent,
  WorkflowSignal,
} from "./events.js";
import { continueFrom, newWorkflow, type WorkflowLife, type WorkflowPolicy, workflowMachine } from "./machine.js";
import { recordOf, type StageRecord, type WorkflowState } from "./state.js";

/** A tool's exit code, an agent's reply, what a child leaves open, more of the event, a performer that breaks, or (null) nothing yet. */
export type Answer =
  | number
  | string
  | More
  | { readonly crash: string }
  | { readonly open: readonly ChildFinding[] }
  | null;
type More = Partial<Omit<StageTurnEnded, "type" | "key">> & Partial<Omit<StageCommandEnded, "type" | "key">>;
/** Per stage: its executions' answers, the last of which is repeated; or a rule. */
export type Script = Readonly<Record<string, readonly Answer[] | ((n: number) => Answer)>>;

export const settings: WorkflowPolicy["settings"] = {
  convergence: { same_failure: 3, rounds_without_fewer_findings: 3 },
  backoff_seconds: [1, 2],
};
/** Loops are the test's own business. */
export const unbounded = { ...settings, convergence: { same_failure: 0, rounds_without_fewer_findings: 0 } };

type StageEffect = Extract<WorkflowEffect, { stage: string }>;

/** Keeps what is owed as the kernel would, and answers it by a script. One that ended is gone on with. */
export class World {
  life: WorkflowLife;
  at = 1_000_000;
  readonly policy: WorkflowPolicy;
  readonly owed = new Map<string, WorkflowEffect>();
  readonly history: WorkflowEffect[] = [];
  readonly reports: RunReport[] = [];
  readonly events: WorkflowArrival[] = [];
  private readonly machine: ReturnType<typeof workflowMachine>;
  private readonly calls = new Map<string, number>();
  private readonly stopped = new Set<string>();

  constructor(graph: Graph, patch: Partial<WorkflowPolicy> = {}, state: WorkflowState = newWorkflow()) {
    const promptPath = (folder: string) => `${folder}/prompt.md`;
    this.policy = { graph, runId: "r1", machine: "r1", issueId: null, settings, promptPath, ...patch };
    this.machine = workflowMachine(this.policy);
    this.life = { state: state.phase === "done" ? continueFrom(state) : state, ledger: emptyLedger("r1") };
  }

  arrive(event: WorkflowEvent): void {
    this.at += 1;
    const stamped = { ...event, at: this.at };
    this.events.push(stamped);
    if ("key" in event) this.owed.delete(event.key);
    const next = this.machine(this.life, stamped);
    const again = this.machine(asJson(this.life), asJson(stamped));
    if (JSON.stringify(next) !== JSON.stringify(again)) throw new Error("a restart would have decided otherwise");
    this.life = next.state;
    for (const key of next.cancel ?? []) this.owed.delete(key);
    for (const effect of next.effects) {
      if (this.history.some((one) => one.key === effect.key)) throw new Error(`${effect.key} is owed twice`);
      this.history.push(effect);
      this.owed.set(effect.key, effect);
      if (effect.kind === "stop") this.stopped.add(effect.folder);
    }
    this.reports.push(...(next.reports ?? []));
  }
  signal(signal: WorkflowSignal): void {
    const wait = [...this.owed.values()].find((effect) => effect.kind === "wait");
    if (wait) this.arrive({ type: "signal", key: wait.key, signal });
  }
  answerGate(stage: string, option: string, feedback: string | null = null): void {
    this.signal({ name: "answer", stage, option, feedback, by: "me" });
  }

  play(script: Script = {}): this {
    this.arrive({ type: "started" });
    return this.goOn(script);
  }
  /** Until nothing can be answered any more. `first`: from which of the owed effects on an answer is looked for. */
  goOn(script: Script = {}, first: () => number = () => 0): this {
    for (let steps = 0; this.owed.size > 0; steps += 1) {
      if (steps > 20_000) throw new Error("the workflow does not end");
      const event = this.answerFirst(script, first());
      if (!event) return this;
      this.arrive(event);
    }
    return this;
  }

  /** The stages that were visited, in order. */
  path(): string[] {
    return this.reported("stage-started").flatMap(({ stage, attempt }) => (attempt === 1 ? [stage] : []));
  }
  executions(stage: string): number {
    return this.reported("stage-started").filter((report) => report.stage === stage).length;
  }
  turns(stage?: string): StageTurnEffect[] {
    const turns = this.history.filter((effect) => effect.kind === "turn");
    return stage === undefined ? turns : turns.filter((effect) => effect.stage === stage);
  }
  reported<T extends ReportBody["type"]>(type: T): Extract<RunReport, { type: T }>[] {
    return this.reports.filter((report): report is Extract<RunReport, { type: T }> => report.type === type);
  }
  record(stage: string): StageRecord {
    return recordOf(this.life.state, stage);
  }
  ending() {
    return this.life.state.ending;
  }

  private answerFirst(script: Script, from: number): WorkflowEvent | null {
    const owed = [...this.owed.values()];
    for (const effect of [...owed.slice(from), ...owed.slice(0, from)]) {
      const event = this.answer(effect, script);
      if (event) return event;
    }
    const timers = [...this.owed.values()].filter((effect) => effect.kind === "timer");
    const first = timers.sort((a, b) => a.until - b.until)[0];
    if (!first) return null;
    this.at = Math.max(this.at, first.until);
    return { type: "timer-fired", key: first.key };
  }

  private answer(effect: WorkflowEffect, script: Script): WorkflowEvent | null {
    const { key } = effect;
    switch (effect.kind) {
      case "stop":
        return { type: "stop-done", key };
      case "tell":
        return { type: "told", key };
      case "timer":
      case "wait":
        return null;
      default:
        return this.executed(effect, this.scripted(effect, script));
    }
  }

  private scripted({ stage }: StageEffect, script: Script): Answer | undefined {
    const rule = script[stage];
    const n = (this.calls.get(stage) ?? 0) + 1;
    const answer = typeof rule === "function" ? rule(n) : rule?.[Math.min(n, rule.length) - 1];
    if (answer !== null) this.calls.set(stage, n);
    return answer;
  }

  private executed(effect: StageEffect, answer: Answer | undefined): WorkflowEvent | null {
    const { key } = effect;
    const isStopped = "folder" in effect && this.stopped.has(effect.folder);
    if (answer === null && !isStopped) return effect.kind === "child" ? this.endChild(effect) : null;
    if (answer && typeof answer === "object" && "crash" in answer) {
      return { type: "crashed", key, effect: effect.kind, message: answer.crash };
    }
    if (effect.kind === "turn") return turnOf(effect, answer === null ? { outcome: { type: "stopped" } } : answer);
    if (effect.kind === "command")
      return commandOf(effect, answer === null ? { stopped: true, exitCode: null } : answer);
    const isGood = answer === undefined || answer === 0;
    if (effect.kind === "child") {
      const ended = { outcome: isGood ? "success" : "fail", reason: isGood ? null : "it failed" } as const;
      const found = typeof answer === "object" && answer !== null && "open" in answer ? { findings: answer.open } : {};
      return { type: "child-ended", key, ...ended, ...found };
    }
    if (!isGood) return { type: "worktree-failed", key, reason: "a conflict" };
    if (effect.op === "open") return { type: "worktree-ready", key, path: "/ws", branch: "ws", baseSha: "c0" };
    return effect.op === "merge" ? { type: "worktree-merged", key, commit: "c1" } : { type: "worktree-removed", key };
  }
  private endChild({ key, stage }: StageEffect): WorkflowEvent | null {
    const isTold = this.history.some((one) => one.kind === "tell" && one.key === `stop:${key}`);
    return isTold ? { type: "child-ended", key, outcome: "cancelled", reason: null, machine: `r1/${stage}` } : null;
  }
}

function moreOf(answer: Answer | undefined): More {
  return typeof answer === "object" && answer !== null && !("crash" in answer || "open" in answer) ? answer : {};
}

function turnOf({ key, stage }: StageTurnEffect, answer: Answer | undefined): StageTurnEnded {
  const text = typeof answer === "string" ? answer : `${stage} is done\n[STATUS: success]`;
  const patch = moreOf(answer);
  const reader = new StatusReader();
  reader.push(patch.reply?.text ?? text);
  return {
    type: "turn-ended",
    outcome: { type: "ended" },
    sessionId: `session-${key}`,
    usage: { input_tokens: 10, output_tokens: 1, cost_usd: 0.5 },
    seconds: 2,
    until: 0,
    reply: { text },
    status: reader.end(),
    ...patch,
    key,
  };
}

function commandOf(effect: StageCommandEffect, answer: Answer | undefined): StageCommandEnded {
  const patch = moreOf(answer);
  const exitCode = typeof answer === "number" ? answer : 0;
  const failure = {
    class: "exit" as const,
    digest: `${effect.stage} exited with ${exitCode}`,
    stdoutTail: "out",
    stderrTail: "err",
    firstFailingCheck: "check 1",
    rerunCommand: `run ${effect.stage}`,
  };
  return {
    type: "command-ended",
    exitCode,
    timedOut: false,
    stopped: false,
    seconds: 3,
    digest: "",
    outputPath: effect.folder,
    tails: "",
    discarded: [],
    failure: exitCode === 0 ? null : failure,
    output: { text: `output of ${effect.stage}` },
    ...patch,
    key: effect.key,
  };
}

function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export const failed = (reason: string) => `Found something.\n[STATUS: fail]\n[FAILURE_REASON: ${reason}]`;
