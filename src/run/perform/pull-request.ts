import type { PullRequestEffect } from "../../core/issue/effects.js";
import type { IssueEvent, OpenOutcome } from "../../core/issue/events.js";
import type { IssueState } from "../../core/issue/state.js";
import type { Settled } from "../../durable/types.js";
import { diffStat } from "../../git/worktree/diff.js";
import { ExternalError, messageOf } from "../../lib/errors.js";
import { pullRequestText } from "../../prompts/pull-request-text.js";
import { forgeOf, type LifeContext } from "../context.js";

/** Found again by its head branch; only what is not there is opened. */
export async function performPullRequest(
  life: LifeContext,
  effect: PullRequestEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  return { event: { type: "pull-request-ended", key: effect.key, outcome: await open(life, effect, signal) } };
}

async function open(life: LifeContext, effect: PullRequestEffect, signal: AbortSignal): Promise<OpenOutcome> {
  const { run, names, issueId } = life;
  try {
    const issue = await run.tracker.get(issueId);
    const text = pullRequestText({
      issue: { id: issueId, title: issue?.title ?? life.title, body: issue?.body ?? "" },
      closes: run.tracker.kind === "github",
      changed: await diffStat(run.mirror, { base: life.state().reviewBase, head: effect.head }),
      commands: run.settings.evidence_check.required,
      reviewed: reviewedIn(life.state()),
      findings: life.ledger().findings.filter(({ source }) => source !== "protocol"),
    });
    const key = `${run.projectId}:${issueId}`;
    const wanted = { key, branch: names.branch, base: run.target, draft: false };
    const { number, url } = await forgeOf(run).openPullRequest({ ...wanted, ...text }, signal);
    return { type: "opened", number, url };
  } catch (error) {
    if (signal.aborted) throw error;
    const unreachable = !(error instanceof ExternalError) || error.retryable;
    return { type: unreachable ? "unreachable" : "refused", reason: messageOf(error) };
  }
}

/** By this life, or by the one whose work it delivers. */
function reviewedIn({ review, deliver }: IssueState): number {
  return deliver ? deliver.reviewed : review.passed === null ? 0 : review.round;
}
