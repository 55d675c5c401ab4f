import type { Stage } from "../graph.js";
import type { WorkflowEvent } from "./events.js";
import { isReview } from "./graph-index.js";
import type { Branch, ParallelBlock, Token } from "./state.js";
import type { Step } from "./step.js";

/**
 * Reviews side by side read one place. What they say counts together only where all of it is about the same files: those
 * that are there when the last of the block has ended. Nobody can tell who changed files while several were at work, so
 * whoever has looked at others looks again, one after the other; what changes while one is alone is its own doing.
 * Only files that git tracks count: a report that a review writes disturbs nobody. Where a branch has stages that are there to
 * change files, the workflow wants it so.
 */
const timesAgain = 3;

/** After each execution in a branch, whatever came of it. */
export function noteFiles(step: Step, token: Token, stage: Stage, event: WorkflowEvent): void {
  const forker = token.parent === null ? null : step.token(token.parent);
  const block = forker && step.state.blocks.find((one) => one.token === forker.id);
  const at = Number(token.id.slice(token.id.lastIndexOf(":") + 1));
  const branch = block?.branches[at];
  if (!block || !branch || forker.workspace !== token.workspace) return;
  const tree = treeAfter(event) ?? block.tree;
  const branches = block.branches.map((one, place) => (place === at ? noted(branch, stage, event) : one));
  const next: ParallelBlock = { ...block, branches, ...(tree === undefined ? {} : { tree }) };
  step.set({ blocks: step.state.blocks.map((one) => (one === block ? next : one)) });
  const around = step.stage(forker.stage);
  if (around) noteFiles(step, forker, around, event);
}

function treeAfter(event: WorkflowEvent): string | undefined {
  return event.type === "command-ended" || event.type === "turn-ended" ? event.tree?.after : undefined;
}

function noted(branch: Branch, stage: Stage, event: WorkflowEvent): Branch {
  if (isWriter(stage)) return { ...branch, writes: true };
  if (event.type !== "turn-ended" || event.tree === undefined) return branch;
  return { ...branch, seen: { ...branch.seen, [stage.id]: isChanged(event) ? null : event.tree.after } };
}

/** A block within a branch is judged by itself: to the one around it, it is something else. */
function isWriter(stage: Stage): boolean {
  const kinds: readonly Stage["kind"][] = ["workflow", "workspace.merge", "parallel"];
  return kinds.includes(stage.kind) || (stage.kind === "llm" && !isReview(stage));
}

/** The files are not those that the turn began with. */
export function isChanged({ tree }: Pick<Extract<WorkflowEvent, { type: "turn-ended" }>, "tree">): boolean {
  return tree !== undefined && tree.before !== tree.after;
}

/** All branches have ended. `again`: some of them are to be started once more. */
export function askAgain(step: Step, block: ParallelBlock): "none" | "again" | "in-vain" {
  const { branches, alone = 0 } = block;
  if (branches.some(({ writes }) => writes) || branches.filter(hasReview).length < 2) return "none";
  const disturbed = branches.filter((branch) => isDisturbed(block, branch));
  if (disturbed.length === 0) return "none";
  if (alone === timesAgain) return "in-vain";
  const names = disturbed.map(({ stage }) => stage).join(", ");
  step.log("warn", `The files changed while they were reviewed: asked again, one after the other: ${names}`);
  const queued = branches.map((branch): Branch => {
    return disturbed.includes(branch) ? { stage: branch.stage, status: "queued", outcome: null } : branch;
  });
  for (const { seen = {} } of disturbed) for (const id of Object.keys(seen)) forgetVisit(step, id);
  const next: ParallelBlock = { ...block, branches: queued, alone: alone + 1 };
  step.set({ blocks: step.state.blocks.map((one) => (one.token === block.token ? next : one)) });
  return "again";
}

/** A word that does not count is no failure in a row of equal ones, and its visit none of those that are limited. */
function forgetVisit(step: Step, id: string): void {
  const { same, ...before } = step.record(id);
  const record = { ...before, askedAgain: (before.askedAgain ?? 0) + 1 };
  const row = same !== undefined && same.count > 1 ? { same: { ...same, count: same.count - 1 } } : {};
  step.setRecord(id, { ...record, ...row });
}

function hasReview({ seen }: Branch): boolean {
  return seen !== undefined;
}

/** One that changed files while it was alone has failed by that. */
function isDisturbed({ tree, alone }: ParallelBlock, { seen = {} }: Branch): boolean {
  const trees = Object.values(seen);
  if (alone !== undefined && trees.includes(null)) return false;
  return trees.some((one) => one !== tree);
}
