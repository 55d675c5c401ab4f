import { isCaredFor, lookAtNamed, type Named, whyNotReady } from "../../core/not-ready.js";
import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import type { RunContext } from "../context.js";
import { unmergedDeps } from "../unmerged.js";
import { isHeldBack } from "./live-again.js";

type NamedEffect = Extract<RunEffect, { readonly kind: "named" }>;
type Left = Extract<RunEvent, { readonly type: "named-seen" }>["left"][number];

/** What is done, or another run's, is no news; of the others, the reason. */
export async function performNamed(run: RunContext, { key, ids }: NamedEffect): Promise<Settled<RunEvent>> {
  const left: Left[] = [];
  for (const issueId of ids) {
    const issue = await run.tracker.get(issueId);
    const named = issue === null ? null : await lookAtNamed(run, issue);
    if (named !== null && (isCaredFor(named) || (await run.history.endedElsewhere(issueId)))) continue;
    left.push({ issueId, reason: named === null ? "it is gone" : await reasonAgainst(run, named) });
  }
  return { event: { type: "named-seen", key, left } };
}

async function reasonAgainst(run: RunContext, named: Named): Promise<string | null> {
  const { id, deps } = named.issue;
  const { resume, only } = run.options;
  const found = whyNotReady(named, {
    resume,
    missing: await openOf(run, deps),
    unmerged: await unmergedDeps(run, run.tracker, deps),
    isUntouched: only === "check" && (await run.history.earlier(id)).resume === null,
    isStopped: await isHeldBack(run, named.issue),
  });
  return found?.reason ?? null;
}

async function openOf({ tracker }: RunContext, deps: readonly string[]): Promise<readonly string[]> {
  const open: string[] = [];
  for (const id of deps) {
    const dep = await tracker.get(id);
    if (dep !== null && dep.status !== "completed") open.push(id);
  }
  return open;
}
