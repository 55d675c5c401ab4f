import { join } from "node:path";
import type { Settled } from "../../durable/types.js";
import { mergeWorkspace, openWorkspace } from "../../git/worktree/workspace.js";
import { removeWorktree } from "../../git/worktree/worktree.js";
import { messageOf } from "../../lib/errors.js";
import { withLock } from "../../lib/lock.js";
import { pathHash } from "../../lib/path-hash.js";
import type { StageWorktreeEffect } from "../../workflow/machine/effects.js";
import type { WorkflowEvent } from "../../workflow/machine/events.js";
import { giveBackSlotNumber } from "../perform/slot-number.js";
import { removeTemporaryFolder, temporaryFolderOf } from "../temporary.js";
import { type WorkflowContext, workspaceNames } from "./context.js";
import { headOf } from "./place.js";

/** Makes a workspace, merges it into the checkout, or removes it; what is not merged is parked first. */
export async function performStageWorktree(
  context: WorkflowContext,
  effect: StageWorktreeEffect,
  signal: AbortSignal,
): Promise<Settled<WorkflowEvent>> {
  try {
    return { event: await perform(context, effect, signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { event: { type: "worktree-failed", key: effect.key, reason: messageOf(error) } };
  }
}

async function perform(
  context: WorkflowContext,
  effect: StageWorktreeEffect,
  signal: AbortSignal,
): Promise<WorkflowEvent> {
  const { run, checkout, life } = context;
  const { key, workspace } = effect;
  const mirror = await run.mirror();
  const names = workspaceNames(run.runId, workspace);
  const path = life().state.workspaces[workspace]?.path ?? run.home.worktree(run.projectId, names.worktree);
  switch (effect.op) {
    case "open": {
      const { copy } = run.settings.worktree;
      const { repoPath } = run;
      const opened = await openWorkspace(mirror, { path, branch: names.branch, beside: checkout.path, copy, repoPath });
      return { type: "worktree-ready", key, path, branch: names.branch, baseSha: opened.baseSha };
    }
    case "merge": {
      const message = `Merge workspace ${workspace}\n\nRatchet-Run: ${run.runId}\n`;
      // Branches that merge at the same moment would take each other's place, or abort each other's conflict.
      const lock = join(run.home.root, "locks", `merge-${pathHash(checkout.path).slice(0, 16)}`);
      const into = { into: checkout.path, identity: run.identity, message };
      const merge = await withLock(lock, () => mergeWorkspace(path, into), { signal });
      return merge.type === "merged"
        ? { type: "worktree-merged", key, commit: merge.commit }
        : { type: "worktree-failed", key, reason: merge.reason };
    }
    case "remove": {
      const landed = await headOf(checkout);
      await removeWorktree(mirror, {
        path,
        branch: names.branch,
        issue: names.branch.slice("ratchet/".length),
        landed,
        landedIn: checkout.path,
      });
      giveBackSlotNumber(run.home.root, path);
      await removeTemporaryFolder(temporaryFolderOf(path, run.env));
      return { type: "worktree-removed", key };
    }
  }
}
