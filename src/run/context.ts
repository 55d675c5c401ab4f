import type { Spent } from "../core/budget.js";
import type { Ledger } from "../core/finding.js";
import { runSource } from "../core/follow-up.js";
import type { IssueEffect, PromptKind, TurnEffect } from "../core/issue/effects.js";
import type { IssueEvent, Snapshot, TurnEnded, Usage } from "../core/issue/events.js";
import type { PullRequestItem } from "../core/issue/policy.js";
import type { IssueLife, IssueState } from "../core/issue/state.js";
import type { LaterTrigger } from "../core/ledger/settle-older.js";
import type { Agent, Reviewer } from "../core/ports/agent.js";
import type { Clock } from "../core/ports/clock.js";
import type { Forge } from "../core/ports/forge.js";
import type { Tracker } from "../core/ports/tracker.js";
import type { WorkItems } from "../core/ports/work-items.js";
import type { IssueRecord } from "../core/record.js";
import type { RunReport } from "../core/report.js";
import type { ResumeFrom, RunEffect, RunEvent, RunOptions, TriggerStart } from "../core/run/effects.js";
import type { RunState } from "../core/run/state.js";
import type { Settings } from "../core/settings.js";
import type { Log } from "../durable/types.js";
import type { Mirror } from "../git/mirror/mirror.js";
import { snapshot } from "../git/worktree/worktree.js";
import { Bug } from "../lib/errors.js";
import { type Home, safeName } from "../lib/home.js";
import type { CommandPlaces } from "./command-places.js";
import type { LandingLease } from "./landing-lease.js";
import type { Meter } from "./meter.js";
import type { Readers } from "./perform/readers.js";
import type { Slots } from "./slots.js";
import type { ToldToEnd } from "./told-to-end.js";
import type { Outbox } from "./tracker-outbox.js";

/** What the performers of one run share. Made once when the run starts (or is taken up again), never changed. */
export interface RunContext {
  readonly runId: string;
  readonly projectId: string;
  readonly repoPath: string;
  readonly target: string;
  readonly settings: Settings;
  readonly options: RunOptions;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly mirror: Mirror;
  readonly identity: { readonly name: string; readonly email: string };
  readonly tracker: Tracker;
  readonly outbox: Outbox;
  /** Where the items of pull requests are, whatever the tracker. */
  readonly board: WorkItems;
  /** null: nothing that is configured needs one. */
  readonly forge: Forge | null;
  /** Every pull request has been looked at since the run began; never rejects. */
  readonly pullRequestsSeen: Promise<void>;
  readonly agent: Agent;
  /** agent.fallback, where there is one. */
  readonly fallback: Agent | null;
  /** agent.workflow, where there is one: what implementers do. */
  readonly workflow: IssueWorkflow | null;
  /** By slot: the panel's names, or the reviewer's type where there is no panel. */
  readonly reviewers: ReadonlyMap<string, Reviewer>;
  /** The project's own words for every prompt; null: none. */
  readonly projectText: string | null;
  readonly redact: (text: string) => string;
  readonly templates: Readonly<Record<PromptKind, string>>;
  readonly journal: Journal;
  readonly inbox: Inbox;
  readonly history: History;
  readonly slots: Slots;
  readonly commandPlaces: CommandPlaces;
  readonly landing: LandingLease;
  readonly meter: Meter;
  readonly told: ToldToEnd;
  /** When an earlier process last did something of this run; null: there was none. */
  readonly drivenUntil: number | null;
  /** For what belongs to no run. */
  readonly warn: (text: string) => void;
}

/** Does an implementer's turn by a workflow. */
export interface IssueWorkflow {
  implement(life: LifeContext, effect: TurnEffect, signal: AbortSignal): Promise<TurnEnded>;
}

/** The durable logs of a run and of its lives. */
export interface Journal {
  run(machine: string): Log<RunState, RunEvent, RunEffect, RunReport>;
  life(machine: string, issueId: string): Log<IssueLife, IssueEvent, IssueEffect, RunReport>;
}

/** Signals from other processes and from the run to its lives. */
export interface Inbox {
  send(machine: string, body: unknown): Promise<void>;
  next(machine: string, signal: AbortSignal): Promise<{ readonly id: number; readonly body: unknown }>;
  /** Everything that was sent has been recorded. */
  isEmpty(machine: string): Promise<boolean>;
  /** Answers that a machine and its parts had not read when it ended, to the one that goes on in its place. */
  passAnswersOn(from: string, to: string): Promise<void>;
}

/** What earlier lives of an issue left behind. */
export interface History {
  /** It came to its last end in another run, since this one began. */
  endedElsewhere(issueId: string): Promise<boolean>;
  /** Another run is at work on it, or was when its process ended, and has not come to its end: it is that run's. */
  livedElsewhere(issueId: string): Promise<boolean>;
  ledger(issueId: string): Promise<Ledger>;
  /** A trigger has judged anew what it found in runs that have ended. */
  settleOlder(trigger: string, later: Omit<LaterTrigger, "runId">): Promise<void>;
  /** As this run has recorded it so far; null: it has had no life of the issue. */
  record(issueId: string): Promise<IssueRecord | null>;
  /** How an issue landed last, in whatever run; null: none is known. */
  landed(issueId: string): Promise<{ readonly baseSha: string; readonly commit: string } | null>;
  /** The time of this run's last step; null: it has made none. */
  lastStepAt(): Promise<number | null>;
  /** What the turns of this run have cost so far. */
  spent(): Promise<Spent>;
  /** The number of the issue's next life, and what it can go on from, in whatever run that was. */
  earlier(issueId: string): Promise<{ readonly nextLife: number; readonly resume: ResumeFrom | null }>;
}

/** What the performers of one life need besides: who it is, and the ledger as it is now. */
export interface LifeContext {
  readonly run: RunContext;
  readonly machine: string;
  /** Empty: the life is of the run itself, one of its triggers'. */
  readonly issueId: string;
  readonly names: LifeNames;
  /** The trigger that it is of. */
  readonly trigger?: TriggerStart;
  /** The pull request's item that it is of. */
  readonly item?: PullRequestItem;
  readonly title: string;
  readonly ledger: () => Ledger;
  readonly state: () => IssueState;
  /** Aborted once it was told to stop, or a drain has made its claim needless. */
  readonly stopping: AbortSignal;
  /** Turns and commands waiting for a place, by folder, so that a stop reaches them. */
  readonly pending: Map<string, AbortController>;
  /** What turns have used so far, by key, where their agents tell it; it counts until the state has it. */
  readonly live: Map<string, Usage>;
  /** Turns that an earlier process saw end, or could have: what they used is known once they settle. */
  readonly harvests: Set<Promise<unknown>>;
  /** Its reviewers at work. */
  readonly readers: Readers;
}

/** How files and refs of a life are called. */
export interface LifeNames {
  /** Below runs/<run>/, as the home spells it; null: the run's own. */
  readonly attempts: string | null;
  readonly worktree: string;
  readonly branch: string;
  /** In merge messages, in the refs of parked work, and for follow-ups. */
  readonly item: string;
}
export function issueNames(issueId: string): LifeNames {
  const name = safeName(issueId);
  return { attempts: issueId, worktree: name, branch: `ratchet/${name}`, item: issueId };
}
/** No issue's folder begins with "_". */
export function runNames(runId: string): LifeNames {
  const item = runSource(runId);
  return { attempts: null, worktree: `_${item}`, branch: `ratchet/${item}`, item };
}

export function runMachineId(runId: string): string {
  return `run:${runId}`;
}
export function issueMachineId(runId: string, issueId: string, life: number): string {
  return `issue:${runId}:${life}:${issueId}`;
}

export function pullRequestMachineId(projectId: string, number: number): string {
  return `pull-request:${projectId}:${number}`;
}

export function forgeOf({ forge }: Pick<RunContext, "forge">): Forge {
  if (!forge) throw new Bug("a forge is needed, and none was opened");
  return forge;
}

export function triggerMachineId(runId: string, name: string, number: number): string {
  return `trigger:${runId}:${number}:${name}`;
}

/** The issue's own checkout, or the run's: one path for all lives. */
export function worktreePath({ run, names }: Pick<LifeContext, "run" | "names">): string {
  return run.home.worktree(run.projectId, names.worktree);
}
export function attemptFolder({ run, names }: Pick<LifeContext, "run" | "names">, folder: string): string {
  return run.home.attempt(run.runId, names.attempts, folder);
}

/** Reads the worktree against this life's base; `base` is what it has to contain, `namedCommits` what the agent named. */
export async function takeSnapshot(
  life: LifeContext,
  base: string,
  namedCommits: readonly string[] = [],
): Promise<Snapshot> {
  const { baseSha, reviewBase, unmerged } = life.state();
  const seen = await snapshot(worktreePath(life), {
    repoPath: life.run.repoPath,
    base: baseSha,
    required: base,
    reviewBase: unmerged || reviewBase,
    followsTarget: followsTarget(life),
    unmerged: unmerged || null,
    docsPatterns: life.run.settings.docs_patterns,
    namedCommits,
    target: life.run.target,
  });
  // What a remote has answered is in it.
  return seen.unpushed ? { ...seen, unpushed: seen.unpushed.map(life.run.redact) } : seen;
}

/** A trigger has its baseline, and a pull request what its remote has. Who lands by hand has no review, and may have merged it before. */
export function followsTarget({ run, trigger, item }: LifeContext): boolean {
  return !trigger && !item && run.options.only !== "land" && run.settings.finalize.mode !== "pr";
}
