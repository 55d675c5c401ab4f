import type { Forge } from "../../core/ports/forge.js";
import type { PrEffect } from "../../core/pull-request/effects.js";
import type { PrEvent } from "../../core/pull-request/events.js";
import type { PrIdentity, PrLife, PrState } from "../../core/pull-request/state.js";
import type { RunReport } from "../../core/report.js";
import type { Log } from "../../durable/types.js";
import type { RunContext } from "../context.js";

/** What following pull requests needs: a part of what a run has, so that it works without one. */
export interface FollowContext
  extends Pick<RunContext, "projectId" | "home" | "clock" | "settings" | "board" | "tracker" | "inbox" | "redact"> {
  readonly forge: Forge;
  /** The durable log of one pull request's machine. */
  readonly journal: (machine: string, issueId: string) => Log<PrLife, PrEvent, PrEffect, RunReport>;
  /** Takes the worktree of a pull request that has ended away; what is nowhere else is parked. */
  readonly dropWorktree: (issueId: string, merged: string | null) => Promise<void>;
  /** The pull request's machine as it was recorded last; null: it has not begun. */
  readonly state: (machine: string) => Promise<PrState | null>;
  /** Whoever else wants to follow it may from now on. */
  readonly letGo: (machine: string) => Promise<void>;
  /** Somebody has told the machine something that it has not taken in. */
  readonly isTold: (machine: string) => Promise<boolean>;
  /** Of an issue, or of an item of ours that reviews. */
  readonly ledger: RunContext["history"]["ledger"];
}

/** One pull request that is followed. */
export interface PrContext extends FollowContext {
  readonly pr: PrIdentity;
  readonly machine: string;
  readonly life: () => PrLife;
}
