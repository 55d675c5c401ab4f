import type { LandEffect } from "../../core/issue/effects.js";
import type { IssueEvent, LandOutcome } from "../../core/issue/events.js";
import { isStopping } from "../../core/issue/halt.js";
import { canBeTakenAway } from "../../core/issue/taken-away.js";
import type { Settled } from "../../durable/types.js";
import {
  type CommitOptions,
  commitLanding,
  findLanded,
  followTarget,
  isLanded,
  keepProposal,
  proposeLanding,
  putBranch,
} from "../../git/landing/land.js";
import type { NotGiven } from "../../git/users-branch/given-branch.js";
import { shellWord } from "../../lib/quoted.js";
import type { LifeContext, RunContext } from "../context.js";
import { whyTaken } from "../elsewhere.js";
import { takenAway } from "./taken-away.js";

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
  switch (effect.op) {
    case "propose":
      return (
        (await landedBefore(life, effect)) ??
        (await endedMeanwhile(life)) ??
        (await builtElsewhere(life, effect)) ??
        (await propose(life, effect, signal))
      );
    case "commit":
      await life.run.landing.acquire(life.machine, signal);
      // Its gate may have taken long: looked at again.
      return (await committedBefore(life, effect)) ?? (await endedMeanwhile(life)) ?? (await commit(life, effect));
    case "branch":
      return (await endedMeanwhile(life)) ?? (await builtElsewhere(life, effect)) ?? (await giveBranch(life, effect));
  }
}

async function giveBranch(
  life: LifeContext,
  { head }: Extract<LandEffect, { readonly op: "branch" }>,
): Promise<LandOutcome> {
  const { run, names, trigger } = life;
  const refused = await putBranch(run.mirror, { branch: names.branch, head, replaces: trigger === undefined });
  if (refused !== null) return { type: "refused", reason: inWords(life, refused) };
  return { type: "landed", commit: head, behind: null };
}

/** The work is in the issue's worktree, and no agent is needed for it; a trigger's is put aside, and the next one begins anew. */
function inWords({ issueId, trigger }: LifeContext, { why, way }: NotGiven): string {
  if (way === null) return why;
  return `${why}: ${way}${trigger ? "" : `, then \`ratchet run --resume --check-only ${shellWord(issueId)}\``}`;
}

type ProposeEffect = Extract<LandEffect, { readonly op: "propose" }>;

/** By an earlier process of the run, killed before it could say so. */
async function landedBefore({ run }: LifeContext, effect: ProposeEffect): Promise<LandOutcome | null> {
  if (run.drivenUntil === null) return null;
  const found = await findLanded(run.mirror, effect);
  if (found === null || !needsNoGate(effect, found.tree)) return null;
  return { ...(await follow(run, effect.target, found.commit)), proposed: found };
}

/** The same of a merge that was gated: it is on the line, whatever became of the issue since. */
async function committedBefore(
  { run }: LifeContext,
  { target, commit: sha }: CommitOptions,
): Promise<LandOutcome | null> {
  if (run.drivenUntil === null || !(await isLanded(run.mirror, target, sha))) return null;
  return await follow(run, target, sha);
}

function needsNoGate({ gated = [] }: ProposeEffect, tree: string): boolean {
  return gated === null || gated.includes(tree);
}

async function endedMeanwhile(life: LifeContext): Promise<LandOutcome | null> {
  if (!canBeTakenAway(life.state(), { trigger: life.trigger, options: life.run.options })) return null;
  const how = await takenAway(life);
  if (how === null || how === "completed") return how && { type: "closed" };
  return how === "blocked" ? { type: "closed", blocked: true } : { type: "closed", how };
}

async function builtElsewhere(life: LifeContext, { head }: { readonly head: string }): Promise<LandOutcome | null> {
  const { baseSha, reviewBase } = life.state();
  const reason = await whyTaken(life, { base: baseSha, head, demanded: reviewBase });
  return reason === null ? null : { type: "refused", reason };
}

async function propose(life: LifeContext, effect: ProposeEffect, signal: AbortSignal): Promise<LandOutcome> {
  const { mirror, identity, runId, landing } = life.run;
  const { target, head } = effect;
  await landing.acquire(life.machine, signal);
  const message = { issue: life.names.item, title: life.title, run: runId };
  const proposal = await proposeLanding(mirror, { target, head, message, identity });
  if (proposal.type !== "proposed") return proposal;
  if (needsNoGate(effect, proposal.tree) && !isStopping(life.state())) {
    const outcome = await commit(life, { ...proposal, target, insists: effect.insists ?? false });
    return outcome.type === "landed" ? { ...outcome, proposed: proposal } : outcome;
  }
  if (proposal.merged) await keepProposal(mirror, message.issue, proposal.commit);
  return proposal;
}

async function commit(
  { run }: LifeContext,
  { target, tip, commit: sha, insists = false }: CommitOptions,
): Promise<LandOutcome> {
  const done = await commitLanding(run.mirror, { target, tip, commit: sha, insists });
  return done.type === "moved" ? done : await follow(run, target, sha);
}

async function follow({ mirror }: RunContext, target: string, sha: string) {
  const { behind } = await followTarget(mirror, { target, commit: sha });
  return { type: "landed" as const, commit: sha, behind };
}
