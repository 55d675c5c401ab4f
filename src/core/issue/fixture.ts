import type { Ledger, Remark } from "../finding.js";
import { emptyLedger } from "../ledger/ledger.js";
import type { ReportBody, RunReport } from "../report.js";
import type { IssueStart } from "../run/effects.js";
import type { ReviewSettings, Settings, Trigger } from "../settings.js";
import type { CommandEffect, IssueEffect, LandEffect, TrackerEffect, TurnEffect } from "./effects.js";
import type {
  CommandEnded,
  EndingWord,
  IssueEvent,
  IssueSignal,
  LandOutcome,
  OpenOutcome,
  ParkedAs,
  PushOutcome,
  Snapshot,
  Stamped,
  TurnEnded,
} from "./events.js";
import { type IssueLife, type IssuePolicy, issueMachine, newIssue } from "./machine.js";
import type { PullRequestItem } from "./policy.js";

/** A world for one life: it keeps what is owed as the kernel would, and answers it by rules that a test overrides. */
export const review: ReviewSettings = {
  enabled: true,
  reviewer_type: "command",
  command: ["review"],
  panel: [],
  max_retries: 3,
  finding_threshold: "none",
  track_review_issues: true,
  failure_mode: "continue",
  baseline: null,
  cerberus: { timeout: 300, spawn_args: [], wait_args: [], env: {} },
  agent_sdk_timeout: 600,
  agent_sdk_model: "sonnet",
  agent_sdk_agent: null,
};

export function panelOf(...names: string[]): Partial<ReviewSettings> {
  const { panel, enabled, max_retries, finding_threshold, track_review_issues, failure_mode, baseline, ...who } =
    review;
  return { reviewer_type: "panel", panel: names.map((name) => ({ ...who, name, reviewer_type: "command" as const })) };
}

function trigger(patch: Partial<Trigger> = {}): Trigger {
  const commands = ["one", "two", "three"].map((ref) => ({ ref, command: `run ${ref}`, timeout: 60 }));
  return { failure_mode: "continue", max_retries: 0, timeout: 1800, commands, code_review: null, ...patch };
}

export interface Setup {
  readonly review?: Partial<ReviewSettings>;
  readonly sessionEnd?: Partial<Trigger> | null;
  /** The life is run_end's. */
  readonly runEnd?: Partial<Trigger>;
  /** The life is the verification of an epic. */
  readonly verifies?: boolean;
  /** The life is of a pull request's item. */
  readonly item?: PullRequestItem;
  readonly settings?: Partial<Settings>;
  readonly options?: Partial<IssuePolicy["options"]>;
}

const command = { timeout: 120, allow_fail: false, exclusive: false };
const noBudget = { usd: null, tokens: null, minutes: null };

export function policyOf(setup: Setup = {}): IssuePolicy {
  const { review: patch, sessionEnd, runEnd, verifies, item, settings, options } = setup;
  const base: Settings = {
    preset: null,
    commands: { test: { ...command, command: "npm test" }, lint: { ...command, command: "npm run lint" } },
    commands_env: "inherit",
    evidence_check: { required: ["test", "lint"] },
    agent: {
      type: "command",
      model: null,
      effort: null,
      command: ["agent"],
      script: null,
      workflow: null,
      sandbox: "none",
      fallback: null,
      prices: {},
      backoff_seconds: [1, 2],
      env: [],
    },
    timeout_minutes: 30,
    idle_timeout_seconds: 300,
    max_agents: 2,
    max_issues: null,
    max_gate_retries: 3,
    tracker: { type: "local" },
    per_issue_review: { ...review, enabled: patch !== undefined, ...patch },
    validation_triggers: {
      session_end: sessionEnd ? trigger(sessionEnd) : null,
      run_end: runEnd ? { ...trigger(runEnd), fire_on: "success" } : null,
      epic_completion: null,
      periodic: null,
    },
    finalize: { mode: "merge", into: null },
    pull_requests: {
      max_rework_cycles: null,
      comment_timeout_seconds: 30,
      max_inline_comments: 50,
      rework_on_comment: true,
      trusted: [],
      review: { enabled: false },
      merge: "none",
      poll_seconds: 60,
    },
    forge: { type: "github", repo: null, api_url: null },
    budgets: { issue: noBudget, run: noBudget },
    convergence: { same_failure: 3, rounds_without_fewer_findings: 3 },
    store: { url: null },
    worktree: { copy: [] },
    docs_patterns: ["**/*.md"],
    retention_days: 30,
  };
  return {
    settings: { ...base, ...settings },
    runId: "run-2",
    projectId: "p",
    target: "main",
    promptPath: (folder) => `runs/${folder}/prompt.md`,
    options: { strict: false, fresh: false, ...options },
    ...(runEnd ? { trigger: "run_end" } : {}),
    ...(verifies ? { trigger: "epic_verification" } : {}),
    ...(item ? { item } : {}),
  };
}

export const start: IssueStart = { issueId: "p-1", title: "Fix it", life: 1, resume: null };

export function snapshot(n: number, patch: Partial<Snapshot> = {}): Snapshot {
  return {
    head: `c${n}`,
    tree: `t${n}`,
    filesTree: `t${n}`,
    dirty: [],
    dirtyCount: 0,
    commits: n,
    docsOnly: false,
    containsBase: true,
    namedCommitInTarget: null,
    ...patch,
  };
}

export function remark(title: string, priority: number | null, file = "a.ts"): Remark {
  return { file, line_start: 10, line_end: 12, priority, title, body: { text: `${title}, because` } };
}

export function turnEnded(patch: Partial<TurnEnded> = {}): TurnEnded {
  return {
    type: "turn-ended",
    key: "",
    outcome: { type: "ended" },
    sessionId: "s1",
    usage: null,
    seconds: 1,
    snapshot: null,
    marker: null,
    review: null,
    until: 0,
    ...patch,
  };
}

export const pass: Partial<TurnEnded> = { review: { type: "verdict", verdict: "pass", findings: [] } };
export const noVerdict: Partial<TurnEnded> = { review: { type: "protocol", reason: "no verdict" } };
export function failWith(...findings: Remark[]): Partial<TurnEnded> {
  return { review: { type: "verdict", verdict: "fail", findings } };
}

export function commandEnded(effect: CommandEffect, patch: Partial<CommandEnded>): CommandEnded {
  return {
    type: "command-ended",
    key: effect.key,
    exitCode: 0,
    timedOut: false,
    stopped: false,
    seconds: 2,
    digest: "",
    outputPath: `/home/runs/run-2/p-1/${effect.folder}`,
    tails: "",
    discarded: [],
    ...patch,
  };
}

/** Rules answer what is owed, oldest first; null leaves it owed. n counts the calls of that rule, from 1. */
export interface Rules {
  readonly implement?: (effect: TurnEffect, n: number) => Partial<TurnEnded> | null;
  readonly fix?: (effect: TurnEffect, n: number) => Partial<TurnEnded> | null;
  readonly review?: (effect: TurnEffect, n: number) => Partial<TurnEnded> | null;
  readonly command?: (effect: CommandEffect, n: number) => Partial<CommandEnded> | null;
  readonly land?: (effect: LandEffect, n: number) => LandOutcome;
  readonly push?: () => PushOutcome;
  readonly open?: () => OpenOutcome;
  readonly tracker?: (effect: TrackerEffect) => Partial<Extract<IssueEvent, { type: "tracker-done" }>>;
  /** What a person left in the worktree, where no agent starts. */
  readonly left?: Partial<Snapshot>;
  /** What is there after a fixer. */
  readonly committed?: Snapshot;
  /** Uncommitted files that a commit of Ratchet's put aside. */
  readonly aside?: ParkedAs;
  /** A fixer has deleted the worktree. */
  readonly remade?: true;
  /** How its worktree was found. */
  readonly worktree?: Partial<Extract<IssueEvent, { type: "worktree-ready" }>>;
  /** Called before each answer: what arrives from outside first. */
  readonly before?: (world: World) => IssueSignal | "resumed" | null;
}

export class World {
  life: IssueLife;
  at = 1_000_000;
  /** The run was told to end: from now on every arrival says so. */
  ending: EndingWord | null = null;
  /** How long the step before the next arrival took to be recorded. */
  lateMs = 0;
  readonly owed = new Map<string, IssueEffect>();
  readonly history: IssueEffect[] = [];
  readonly reports: RunReport[] = [];
  readonly events: Stamped<IssueEvent>[] = [];
  readonly policy: IssuePolicy;
  private readonly calls = new Map<string, number>();
  private readonly stopped = new Set<string>();

  constructor(policy: IssuePolicy, begin: IssueStart = start, ledger: Ledger = emptyLedger(begin.issueId)) {
    this.policy = policy;
    this.life = { state: newIssue(begin), ledger };
  }

  arrive(event: IssueEvent): void {
    this.at += 1;
    const ending = this.ending === null ? {} : { ending: this.ending };
    const late = this.lateMs === 0 ? {} : { lateMs: this.lateMs };
    const stamped = { ...event, ...ending, ...late, at: this.at };
    this.lateMs = 0;
    this.events.push(stamped);
    if ("key" in event) this.owed.delete(event.key);
    const next = issueMachine(this.policy)(this.life, stamped);
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
  signal(signal: IssueSignal): void {
    const wait = [...this.owed.values()].find((effect) => effect.kind === "wait");
    if (wait) this.arrive({ type: "signal", key: wait.key, signal });
  }

  /** Until the life is done, or nothing more can be answered. */
  play(rules: Rules = {}): this {
    this.arrive({ type: "started" });
    return this.goOn(rules);
  }
  goOn(rules: Rules = {}): this {
    for (let steps = 0; this.owed.size > 0; steps += 1) {
      if (steps > 2000) throw new Error("the life does not end");
      const outside = rules.before?.(this) ?? null;
      if (outside === "resumed") this.arrive({ type: "resumed" });
      else if (outside) this.signal(outside);
      const event = this.answerFirst(rules);
      if (!event) return this;
      this.arrive(event);
    }
    return this;
  }

  turns(): TurnEffect[] {
    return this.history.filter((effect) => effect.kind === "turn");
  }
  commands(): string[] {
    return this.history.filter((effect) => effect.kind === "command").map((effect) => effect.key);
  }
  reported<T extends ReportBody["type"]>(type: T): Extract<RunReport, { type: T }>[] {
    return this.reports.filter((report): report is Extract<RunReport, { type: T }> => report.type === type);
  }
  finished() {
    return this.reported("issue-finished")[0];
  }

  private answerFirst(rules: Rules): IssueEvent | null {
    for (const effect of this.owed.values()) {
      const event = this.answer(effect, rules);
      if (event) return event;
    }
    const timers = [...this.owed.values()].filter((effect) => effect.kind === "timer");
    const first = timers.sort((a, b) => a.until - b.until)[0];
    if (!first) return null;
    this.at = Math.max(this.at, first.until);
    return { type: "timer-fired", key: first.key };
  }

  private answer(effect: IssueEffect, rules: Rules): IssueEvent | null {
    const { key } = effect;
    switch (effect.kind) {
      case "turn":
        return this.answerTurn(effect, rules);
      case "command":
        return this.answerCommand(effect, rules);
      case "stop":
        return { type: "stop-done", key };
      case "worktree":
        if (effect.op === "remove") return { type: "worktree-removed", key };
        if (effect.op === "look") return { type: "worktree-seen", key, snapshot: snapshot(1, rules.left) };
        if (effect.op === "commit-all") {
          const made = rules.committed ?? snapshot(100 + this.count("commit"));
          const { aside, remade } = rules;
          return {
            ...{ type: "worktree-committed", key, snapshot: made },
            ...(aside && { parked: aside }),
            ...(remade && { remade }),
          };
        }
        return { type: "worktree-ready", key, ...worktree, baseSha: effect.baseSha ?? "c0", ...rules.worktree };
      case "land":
        return { type: "land-ended", key, outcome: this.land(effect, rules) };
      case "push":
        return { type: "push-ended", key, outcome: rules.push?.() ?? { type: "pushed" } };
      case "pull-request":
        return { type: "pull-request-ended", key, outcome: rules.open?.() ?? opened };
      case "tracker":
        return { type: "tracker-done", key, ok: true, ...made(effect), ...rules.tracker?.(effect) } as IssueEvent;
      case "dossier":
        return { type: "dossier-written", key, path: "/home/runs/run-2/p-1/dossier.md" };
      case "timer":
      case "wait":
        return null;
    }
  }

  private answerTurn(effect: TurnEffect, rules: Rules): IssueEvent | null {
    const rule = { implementer: rules.implement, rework: rules.implement, fixer: rules.fix, reviewer: rules.review }[
      effect.role
    ];
    const n = this.count(effect.role);
    const known = effect.role === "reviewer" ? pass : { snapshot: snapshot(n + (effect.role === "fixer" ? 50 : 0)) };
    const answer = rule ? rule(effect, n) : {};
    if (answer === null && this.stopped.has(effect.folder)) {
      return turnEnded({ key: effect.key, outcome: { type: "stopped" }, snapshot: snapshot(n) });
    }
    if (answer === null) return this.uncount(effect.role);
    return turnEnded({ ...known, ...answer, key: effect.key });
  }
  private answerCommand(effect: CommandEffect, rules: Rules): IssueEvent | null {
    const n = this.count("command");
    const answer = rules.command ? rules.command(effect, n) : {};
    if (answer === null && this.stopped.has(effect.folder)) {
      return commandEnded(effect, { exitCode: null, stopped: true });
    }
    return answer === null ? this.uncount("command") : commandEnded(effect, answer);
  }
  private land(effect: LandEffect, rules: Rules): LandOutcome {
    const given = rules.land?.(effect, this.count("land"));
    if (given) return given;
    if (effect.op !== "propose")
      return { type: "landed", commit: effect.op === "commit" ? effect.commit : effect.head, behind: null };
    const tree = this.life.state.work?.tree ?? "";
    return { type: "proposed", tip: "c0", commit: effect.head, tree, merged: false };
  }
  private count(what: string): number {
    const n = (this.calls.get(what) ?? 0) + 1;
    this.calls.set(what, n);
    return n;
  }
  private uncount(what: string): null {
    this.calls.set(what, (this.calls.get(what) ?? 1) - 1);
    return null;
  }
}

const made = ({ op }: TrackerEffect) => (op === "follow-up" ? { id: "p-9" } : {});
const opened: OpenOutcome = { type: "opened", number: 7, url: "https://forge/pull/7" };
const worktree = { path: "/w", branch: "ratchet/p-1", head: "c0", tree: "t0", fresh: true, targetTip: "c0" };

export function play(setup: Setup, rules: Rules = {}): World {
  return new World(policyOf(setup)).play(rules);
}
