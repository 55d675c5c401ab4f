import type { Usage } from "../../core/issue/events.js";
import type { Agent, Reviewer, Turn } from "../../core/ports/agent.js";
import type { RunContext } from "../context.js";
import type { SlotRequest } from "../slots.js";

/** What every turn of a run shares, whatever machine owes it. */
export type ProgramRun = Pick<RunContext, "slots" | "clock" | "settings" | "env" | "meter" | "redact">;

/** One program in one folder: who it is, with what it starts and what is to be done while it runs. */
export interface ProgramTurn {
  readonly key: string;
  /** The attempt's folder. */
  readonly folder: string;
  readonly program: Agent | Reviewer;
  readonly turn: Turn;
  readonly place: Pick<SlotRequest, "issueId" | "turn">;
  /** Wall-clock end that was fixed before; null: `timeoutMs` from its start. */
  readonly until: number | null;
  readonly timeoutMs: number;
  /** null: silence is no reason to end it. */
  readonly idleSeconds: number | null;
  readonly temporary: string;
  /** What is kept with the turn's clock: the effect. */
  readonly note: unknown;
  /** Rendered when it starts. */
  readonly prompt: () => Promise<string>;
  /** The agent has told its session. */
  readonly onSession: (id: string) => Promise<void>;
  /** With what it has used so far, a budget is used up. */
  readonly isOver: (usage: Usage) => boolean;
  /** Asked once it has its place: a budget was used up meanwhile, say, and nothing starts any more. */
  readonly mayNotBegin?: () => Promise<boolean>;
  /** It has ended and gives its place back: whoever is to have that before others says so. */
  readonly onEnd?: () => void;
  /** Aborted by a stop before there is a place for it. */
  readonly pending: Map<string, AbortController>;
  /** By which a stop finds it in `pending`. */
  readonly name: string;
}

/** Why a turn was ended from outside, kept in its folder so that a successor tells the same story. */
export type StopWord = "timed-out" | "idle" | "stopped";
