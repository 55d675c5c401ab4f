import type { PromptKind, TurnRole } from "../issue/effects.js";
import type { ReviewOutcome, TurnOutcome, Usage } from "../issue/events.js";
import type { AgentKind, ReviewerKind } from "../settings.js";
import type { StreamReader } from "./agent-event.js";
import type { Asker } from "./tracker.js";

/** One turn, as an adapter sees it. The prompt itself is on stdin, from the attempt folder. */
export interface Turn {
  readonly role: TurnRole;
  readonly prompt: PromptKind;
  readonly runId: string;
  readonly issueId: string;
  readonly stageId: string;
  readonly attempt: number;
  /** Of a workflow's stage: how often it has been reached, this time included. */
  readonly visit?: number;
  readonly sessionId: string | null;
  readonly model: string | null;
  readonly effort: string | null;
  /** Who runs the model, where a workflow's stage says so. */
  readonly provider?: string;
  /** The worktree. */
  readonly cwd: string;
  readonly files: TurnFiles;
  readonly guard: Guard;
  /** Reviewers only. */
  readonly review: { readonly reviewer: string; readonly baseSha: string; readonly headSha: string } | null;
}

/** What the tools of a turn may touch. Paths are absolute; what they may read is everything but secrets. */
export interface Guard {
  readonly worktree: string;
  /** A reviewer's turn: nothing may be written in the worktree either. */
  readonly readOnly: boolean;
  /** Besides the worktree: the temporary folder, the worktree's own git folder. */
  readonly writable: readonly string[];
}

/** Absolute paths in the attempt folder. */
export interface TurnFiles {
  readonly folder: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly result: string;
}

/** What to start. `env` is added to the scrubbed environment; `stopSignal` is the one the program ends cleanly on. */
export interface ProgramCall {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Which of our own variables it may see; absent: those of agent.env. */
  readonly inherit?: readonly string[];
  /** It leaves files in the temporary folder, so it gets one of its own. */
  readonly ownTemporary?: true;
  readonly stopSignal: "SIGINT" | "SIGTERM";
}

/** What the program left behind. exitCode null: it was lost or stopped before it could say. */
export interface TurnReading {
  readonly outcome: TurnOutcome;
  readonly sessionId: string | null;
  readonly usage: Usage | null;
}

/** A one-way agent is its command line and a reader of its output; starting, following, stopping and re-attaching are run/perform/turn's. */
export interface Agent {
  readonly kind: AgentKind;
  /** What is missing before a turn can start, with a hint; null: all there. `dir`: where relative programs are looked for. */
  check(dir?: string): Promise<{ readonly message: string; readonly hint: string } | null>;
  /** Writes what the program needs besides its command line into the attempt's folder, before it starts. */
  prepare?(turn: Turn): Promise<void>;
  command(turn: Turn): ProgramCall;
  read(files: TurnFiles, exitCode: number | null): Promise<TurnReading>;
  /** Reads the program's own stream, also while it is being written; absent: there is nothing to read before the end. */
  reader?(files: TurnFiles): StreamReader;
  /**
   * Shows that the guard is asked before a tool runs, without a model; null: it is. Absent: the program has no guard. Once
   * its asker has left, the proof is ended with all it has started, and throws the signal's reason.
   */
  proveGuard?(dir: string, asker?: Asker): Promise<{ readonly message: string; readonly hint: string } | null>;
  /** What `doctor` tells of the program; absent: that it is there is all there is to say. `dir`: as for `check`. */
  status?(dir?: string): Promise<AgentStatus>;
  /** The lines of the last message, streamed. */
  message(files: TurnFiles): AsyncIterable<string>;
}

/** What `doctor` tells of an agent's program. */
export interface AgentStatus {
  /** null: the program does not answer. */
  readonly version: string | null;
  /** A version that Ratchet has been tried with. */
  readonly known: boolean;
  /** null: cannot be told without asking the model. */
  readonly loggedIn: boolean | null;
  readonly advice: string | null;
  /** Too old to be called as Ratchet calls it; `advice` says what to do. */
  readonly works?: false;
}

/** A reviewer is a program and a reader of its verdict: never a pass without a positive word. */
export interface Reviewer {
  readonly kind: ReviewerKind;
  /** How long one review may take, where the reviewer's own settings say; absent: the section's agent_sdk_timeout. */
  readonly timeoutSeconds?: number;
  check(dir?: string): Promise<{ readonly message: string; readonly hint: string } | null>;
  prepare?(turn: Turn): Promise<void>;
  command(turn: Turn): ProgramCall;
  read(files: TurnFiles, exitCode: number | null): Promise<TurnReading & { readonly review: ReviewOutcome | null }>;
  reader?(files: TurnFiles): StreamReader;
  proveGuard?(dir: string, asker?: Asker): Promise<{ readonly message: string; readonly hint: string } | null>;
  status?(dir?: string): Promise<AgentStatus>;
}
