import type { StopEffect, TimerEffect, WaitEffect } from "../../core/issue/effects.js";
import type { Interruption } from "../../core/issue/events.js";
import type { Fidelity, ModelChoice } from "../graph.js";

/**
 * What a workflow's machine can owe: the same kinds as the other machines, about stages. Effects carry ids, names and
 * numbers; prompts, commands and inputs are in the graph and are expanded by the performer from the life's context, as the
 * token with the effect's `token` id sees it. Every key is owed once in a machine's life.
 */
interface StageEffect {
  /** `stage:<id>:v<visit>:a<attempt>`, with `:r<n>` when the world made the same attempt necessary again. */
  readonly key: string;
  readonly stage: string;
  readonly visit: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Where execution is: whose context the texts are expanded with. */
  readonly token: string;
  /** The workspace it happens in; null: the checkout. */
  readonly workspace: string | null;
}

/** Others may be at work in the same place. */
export function isInBranch({ token }: Pick<StageEffect, "token">): boolean {
  return token.includes("/");
}

export interface StageTurnEffect extends StageEffect {
  readonly kind: "turn";
  /** The attempt's folder, e.g. `03-review_code`: one per execution. */
  readonly folder: string;
  readonly role: "stage";
  readonly prompt: "stage" | "continue";
  /** For `continue`: the folder of the turn that is continued. */
  readonly continues: string | null;
  /** For `continue`: what ended that turn. Older versions did not say. */
  readonly interrupted?: Interruption;
  /** The session to go on in; null starts a new one. */
  readonly session: string | null;
  readonly model: ModelChoice;
  readonly fidelity: Fidelity;
  /** Its reply carries a status: the prompt says how to write it. */
  readonly review: boolean;
  /** Its prompt gets the section of outstanding findings, if there are any. */
  readonly findings: boolean;
  /** The stage's own limit; null: that of every turn. */
  readonly timeoutMs: number | null;
  /** End of the turn's own clock, in ms since the epoch, kept through continues; null: set when it starts. */
  readonly until: number | null;
}

export interface StageCommandEffect extends StageEffect {
  readonly kind: "command";
  readonly folder: string;
  readonly timeoutSeconds: number;
  /** Relative to the checkout or workspace; null: its root. */
  readonly cwd: string | null;
}

/** `merge`: into the branch that the workspace was made from; a conflict is a failure. `remove` parks what is not merged. */
export interface StageWorktreeEffect extends StageEffect {
  readonly kind: "worktree";
  readonly op: "open" | "merge" | "remove";
  /** The workspace that is made, merged or removed. */
  readonly workspace: string;
}

/** Drives a workflow of its own to its end; the stage in the graph has its inputs. */
export interface StageChildEffect extends StageEffect {
  readonly kind: "child";
  readonly child: string;
  /** Of its attempts, numbered like those of other stages; absent in what an older version owes: then it is the child's name. */
  readonly folder?: string;
  /** A name or a file. */
  readonly ref: string;
  /** The machine of the same visit that was broken off: it begins where that one stood. */
  readonly continues?: string;
}

/** Puts a signal into the inbox of a child. */
export interface TellEffect {
  readonly kind: "tell";
  readonly key: string;
  readonly child: string;
  readonly signal: "cancel" | "budget";
  /** How the budget was used up. */
  readonly reason?: string;
}

export type WorkflowEffect =
  | StageTurnEffect
  | StageCommandEffect
  | StageWorktreeEffect
  | StageChildEffect
  | TellEffect
  | StopEffect
  | TimerEffect
  | WaitEffect;
