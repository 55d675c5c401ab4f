import type { TurnEffect } from "../../core/issue/effects.js";
import type { Agent, Guard, Reviewer, Turn } from "../../core/ports/agent.js";
import type { AgentChoice } from "../../core/settings.js";
import { gitDirFor } from "../../git/checkout/checkout.js";
import { Bug } from "../../lib/errors.js";
import { type LifeContext, worktreePath } from "../context.js";
import { temporaryFolder } from "../temporary.js";
import { filesOf } from "./turn-files.js";

/** Who does a turn, and with what it is started. */
export function programOf(life: LifeContext, effect: TurnEffect): Agent | Reviewer {
  if (effect.role !== "reviewer") return effect.fallback ? fallbackOf(life) : life.run.agent;
  const reviewer = effect.slot === null ? undefined : life.run.reviewers.get(effect.slot);
  if (!reviewer) throw new Bug(`no reviewer for slot ${effect.slot}`);
  return reviewer;
}

/** The agent of a turn that is no reviewer's. */
export function agentOf(life: LifeContext, effect: TurnEffect): Agent {
  return effect.fallback ? fallbackOf(life) : life.run.agent;
}

function fallbackOf({ run }: LifeContext): Agent {
  if (!run.fallback) throw new Bug("a turn for agent.fallback, and there is none");
  return run.fallback;
}

export function turnOf(life: LifeContext, effect: TurnEffect, folder: string): Turn {
  const { agent } = life.run.settings;
  const isReviewer = effect.role === "reviewer";
  const { model, effort }: Pick<AgentChoice, "model" | "effort"> = (effect.fallback ? agent.fallback : null) ?? agent;
  return {
    role: life.item && effect.role === "implementer" ? "rework" : effect.role,
    prompt: effect.prompt,
    runId: life.run.runId,
    issueId: life.issueId,
    stageId: effect.stage,
    attempt: effect.attempt,
    sessionId: effect.session,
    model: isReviewer ? null : model,
    effort: isReviewer ? null : effort,
    cwd: worktreePath(life),
    files: filesOf(folder),
    guard: guardOf(life, isReviewer),
    review: isReviewer ? { reviewer: effect.slot ?? "", baseSha: effect.base, headSha: effect.head } : null,
  };
}

function guardOf(life: LifeContext, readOnly: boolean): Guard {
  const worktree = worktreePath(life);
  const gitDir = readOnly ? [] : [gitDirFor(life.run.mirror, worktree)];
  return { worktree, readOnly, writable: [temporaryFolder(life), ...gitDir] };
}
