import { clip } from "../../core/clip.js";
import type { JoinStage, ParallelStage, StageOutcome } from "../graph.js";
import { askAgain } from "./disturbed.js";
import type { Branch, ParallelBlock, Token } from "./state.js";
import type { Step } from "./step.js";
import { endVisit, verdict } from "./visit.js";

/**
 * Parallel stages. Every branch runs to its own end, whatever becomes of the others; the join judges when all have ended.
 * What branches leave in the context and in the order of findings follows their place in the graph, not who was first.
 */
const nestingMax = 8;

export function fork(step: Step, token: Token, stage: ParallelStage) {
  const depth = token.id.split("/").length;
  const problem =
    step.stage(stage.join.name) === null
      ? `its join ${stage.join.name} does not exist`
      : depth > nestingMax
        ? "parallel stages are nested too deeply"
        : null;
  if (problem !== null) return endVisit(step, token, stage, verdict("fail", problem));
  const before = step.state.blocks.find((one) => one.token === token.id && one.stage === stage.id && one.again);
  const branches = stage.branches.map(({ name }): Branch => {
    const kept = before?.branches.find((branch) => branch.stage === name && branch.outcome !== "fail");
    if (kept === undefined) return { stage: name, status: "queued", outcome: null };
    const { seen: _seen, ...rest } = kept;
    return rest;
  });
  const { order, visit } = token;
  const block = { token: token.id, stage: stage.id, visit, join: stage.join.name, order, branches };
  step.set({ blocks: [...step.state.blocks.filter((one) => one.token !== token.id), block] });
  step.setToken({ ...token, phase: "forked" });
  startBranches(step, token.id);
}

/** Starts what may run; ends the block when nothing is left to run. */
export function startBranches(step: Step, forker: string) {
  for (;;) {
    const block = blockOf(step, forker);
    const token = step.token(forker);
    const stage = block && step.stage(block.stage);
    if (!block || !token || stage?.kind !== "parallel") return;
    const next = block.branches.findIndex(({ status }) => status === "queued");
    if (next < 0) return endBlock(step, { block, token, stage });
    if (block.branches.filter(({ status }) => status === "running").length >= limitOf(block, stage)) return;
    startBranch(step, { block, token, stage, at: next });
  }
}

/** Who was disturbed by others has nobody beside it now. */
function limitOf({ alone }: ParallelBlock, { maxParallel }: ParallelStage): number {
  return alone === undefined ? Math.max(1, maxParallel) : 1;
}

/** In a new machine: those that were at work have their time anew, and what was queued may start. */
export function resumeBranches(step: Step, forker: string): void {
  const block = blockOf(step, forker);
  const stage = block && step.stage(block.stage);
  if (stage?.kind !== "parallel") return;
  const running = step.state.tokens.filter(({ parent }) => parent === forker);
  for (const { id } of running) oweTimeout(step, id, stage);
  startBranches(step, forker);
}

/** The same machine in a new process: the time that nobody was there is not the branches'. False: there is nothing to renew. */
export function renewBranches(step: Step): boolean {
  const timers = step.state.owed.filter(({ timer }) => timer === "branch");
  for (const { key, token = "" } of timers) {
    const forker = step.token(token)?.parent ?? null;
    const block = forker === null ? null : blockOf(step, forker);
    const stage = block && step.stage(block.stage);
    if (stage?.kind !== "parallel") continue;
    step.cancel(key);
    oweTimeout(step, token, stage);
  }
  return timers.length > 0;
}

function oweTimeout(step: Step, token: string, { branchTimeoutMs }: ParallelStage): void {
  if (branchTimeoutMs !== null) step.oweTimer("branch", token, step.at + branchTimeoutMs);
}

interface Started {
  readonly block: ParallelBlock;
  readonly token: Token;
  readonly stage: ParallelStage;
  readonly at: number;
}
function startBranch(step: Step, { block, token, stage, at }: Started): void {
  const branch = block.branches[at];
  if (!branch) return;
  const id = `${token.id}/${block.stage}:${at}`;
  setBranch(step, block, { at, branch: { ...branch, status: "running" } });
  step.setToken({
    id,
    parent: token.id,
    stage: branch.stage,
    phase: "ready",
    visit: 0,
    attempt: 1,
    order: [...block.order, at, 0],
    last: token.last,
    workspace: token.workspace,
    values: {},
    edge: null,
    run: null,
  });
  step.report({ type: "edge-taken", from: block.stage, to: branch.stage });
  oweTimeout(step, id, stage);
}

/** The branch is done: at the join, where no way leads on, or because it could not go on. */
export function endBranch(
  step: Step,
  token: Token,
  ended: { readonly outcome: StageOutcome; readonly reason?: string },
): void {
  const block = token.parent === null ? null : blockOf(step, token.parent);
  const at = Number(token.id.slice(token.id.lastIndexOf(":") + 1));
  const branch = block?.branches[at];
  for (const owed of step.owedBy(token.id)) step.cancel(owed.key);
  forgetBlock(step, token);
  step.dropToken(token.id);
  if (!block || !branch) return;
  const { outcome } = ended;
  const reason = ended.reason === undefined ? {} : { reason: clip(ended.reason, 300) };
  setBranch(step, block, { at, branch: { ...branch, status: "done", outcome, ...reason, values: token.values } });
  if (ended.reason !== undefined) step.log("warn", `Branch ${branch.stage} of ${block.stage} failed: ${ended.reason}`);
  startBranches(step, block.token);
}

/** The branch's time is up: nothing of it that has not begun begins any more. What runs is ended by whoever calls. */
export function expireBranch(step: Step, token: Token): void {
  step.setToken({ ...token, expired: true });
  const block = blockOf(step, token.id);
  if (!block) return;
  const branches = block.branches.map(
    (branch): Branch =>
      branch.status === "queued" ? { ...branch, status: "done", outcome: "fail", reason: "no time was left" } : branch,
  );
  step.set({ blocks: step.state.blocks.map((one) => (one === block ? { ...one, branches } : one)) });
  for (const nested of step.state.tokens.filter(({ parent }) => parent === token.id)) expireBranch(step, nested);
}

interface Ended {
  readonly block: ParallelBlock;
  readonly token: Token;
  readonly stage: ParallelStage;
}
function endBlock(step: Step, { block, token, stage }: Ended): void {
  if (block.branches.some(({ status }) => status !== "done")) return;
  const asked = token.expired ? "none" : askAgain(step, block);
  if (asked === "again") startBranches(step, token.id);
  else if (asked === "in-vain") {
    step.set({ blocks: step.state.blocks.filter((one) => one.token !== token.id) });
    endVisit(step, token, stage, verdict("fail", "the files changed again and again while they were reviewed"));
  } else {
    const entries = block.branches.flatMap((branch) => Object.entries(branch.values ?? {}));
    step.write(token.id, Object.fromEntries(entries));
    endVisit(step, step.token(token.id) ?? token, stage, verdict("success"));
  }
}

/** The join's own verdict, by the branches that have ended. Reached in another way it only leads on. */
export function beginJoin(step: Step, token: Token, stage: JoinStage) {
  const block = step.state.blocks.find((one) => one.token === token.id && one.join === stage.id);
  if (!block) return endVisit(step, token, stage, verdict(passedOn(token)));
  const count = (wanted: StageOutcome) => block.branches.filter(({ outcome }) => outcome === wanted).length;
  const succeeded = count("success") + count("skipped");
  const need = { all: block.branches.length, any: Math.min(1, block.branches.length), quorum: stage.quorum }[
    stage.policy
  ];
  if (succeeded >= need) return endVisit(step, token, stage, verdict("success"));
  const others = block.branches.filter(({ outcome }) => outcome !== "success" && outcome !== "skipped");
  const names = others
    .map((branch) => `${branch.stage} (${branch.reason ?? branch.outcome ?? "not ended"})`)
    .join(", ");
  const reason = `${succeeded} of ${block.branches.length} branches succeeded, ${need} must; not: ${names}`;
  const outcome = succeeded + count("partial_success") >= need ? "partial_success" : "fail";
  endVisit(step, token, stage, verdict(outcome, reason));
}

function passedOn({ last }: Token): "success" | "partial_success" | "fail" {
  if (last === null || last.outcome === "success" || last.outcome === "skipped") return "success";
  return last.outcome === "partial_success" ? "partial_success" : "fail";
}

/** The token leaves the join: until then it is known what the join judged. */
export function forgetBlock(step: Step, { id, stage }: Token): void {
  const isLeft = (block: ParallelBlock) => block.token === id && block.join === stage;
  if (step.state.blocks.some(isLeft)) step.set({ blocks: step.state.blocks.filter((block) => !isLeft(block)) });
}

/** The join at which this branch ends; null: it is no branch. */
export function joinOf(step: Step, token: Token): string | null {
  return (token.parent === null ? null : blockOf(step, token.parent))?.join ?? null;
}

/** The block that a token has forked and not joined yet. */
function blockOf(step: Step, tokenId: string): ParallelBlock | null {
  return step.state.blocks.find((block) => block.token === tokenId && isOpen(step, block)) ?? null;
}

function isOpen(step: Step, { token }: ParallelBlock): boolean {
  return step.token(token)?.phase === "forked";
}

function setBranch(step: Step, block: ParallelBlock, { at, branch }: { readonly at: number; readonly branch: Branch }) {
  const branches = block.branches.map((one, place) => (place === at ? branch : one));
  step.set({ blocks: step.state.blocks.map((one) => (one.token === block.token ? { ...one, branches } : one)) });
}
