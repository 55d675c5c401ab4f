import type { LandEffect } from "../../core/issue/effects.js";
import type { IssueEvent, LandOutcome } from "../../core/issue/events.js";
import type { Settled } from "../../durable/types.js";
import { commitLanding, followTarget, proposeLanding, putBranch } from "../../git/land.js";
import type { LifeContext, RunContext } from "../context.js";

/** One landing worktree per run: two runs on one repository never share it. */
export function landingPath(run: RunContext): string {
  return run.home.worktree(run.projectId, landingName(run.runId));
}
/** No issue's folder begins like this: their names begin with a letter or digit, or "-" for one that had to be changed. */
export function landingName(runId: string): string {
  return `_landing-${runId}`;
}

/** Each part is safe to repeat: a proposal is only a proposal, and a commit that is on the line already has landed. */
export async function performLand(
  life: LifeContext,
  effect: LandEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  const outcome = await land(life, effect, signal);
  if (outcome.type !== "proposed") life.run.landing.release(life.machine);
  return { event: { type: "land-ended", key: effect.key, outcome } };
}

async function land(life: LifeContext, effect: LandEffect, signal: AbortSignal): Promise<LandOutcome> {
  const { mirror, identity, runId } = life.run;
  switch (effect.op) {
    case "propose": {
      const looks = life.trigger === undefined && life.run.options.only !== "land";
      const { status } = (looks ? await life.run.tracker.get(life.issueId) : null) ?? {};
      if (status === "completed") return { type: "closed" };
      if (status === "blocked") return { type: "closed", blocked: true };
      await life.run.landing.acquire(life.machine, signal);
      const message = { issue: life.names.item, title: life.title, run: runId };
      const proposal = await proposeLanding(mirror, { target: effect.target, head: effect.head, message, identity });
      return proposal;
    }
    case "commit": {
      await life.run.landing.acquire(life.machine, signal);
      const done = await commitLanding(mirror, { target: effect.target, tip: effect.tip, commit: effect.commit });
      if (done.type === "moved") return done;
      const { behind } = await followTarget(mirror, { target: effect.target, commit: effect.commit });
      return { type: "landed", commit: effect.commit, behind };
    }
    case "branch":
      await putBranch(mirror, { branch: life.names.branch, head: effect.head });
      return { type: "landed", commit: effect.head, behind: null };
  }
}
