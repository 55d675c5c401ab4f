import type { Graph, StageKind } from "../graph.js";
import { begunStages, noRounds, type ParallelBlock, type Token, type WorkflowState } from "./state.js";

/**
 * A workflow that ended without success goes on in a new machine: outcomes, findings, visits and context are kept, what was
 * broken off is executed again as the same visit, what failed is visited anew. Convergence is counted from here.
 */
export function continueFrom(state: WorkflowState): WorkflowState {
  const stages = Object.entries(state.stages).map(([id, { same: _, ...record }]) => [id, record]);
  const blocks = state.blocks.map((block) =>
    hasFailedJoin(block, state) ? { ...block, again: true as const } : block,
  );
  return {
    ...state,
    phase: "new",
    tokens: state.tokens.map((token) => readyAgain(token, blocks)),
    blocks,
    stages: Object.fromEntries(stages),
    rounds: noRounds,
    owed: [],
    halt: null,
    ending: null,
  };
}

function hasFailedJoin({ token: id, join }: ParallelBlock, { tokens }: WorkflowState): boolean {
  return tokens.some((token) => token.id === id && token.phase === "stuck" && token.stage === join);
}

/** A join that failed would fail again: its branches are what can be done anew. */
function readyAgain(token: Token, blocks: readonly ParallelBlock[]): Token {
  const { expired: _, ...rest } = token;
  if (token.phase === "stuck") {
    const { broken: _broken, ...anew } = rest;
    const block = blocks.find((one) => one.again && one.token === token.id);
    const stage = block?.stage ?? token.stage;
    return { ...anew, stage, phase: "ready", visit: 0, attempt: 1, run: null };
  }
  const waits = token.phase === "running" || token.phase === "backing-off" || token.phase === "asking";
  return waits ? { ...rest, phase: "ready", run: null } : rest;
}

/**
 * Whether a state can go on with a graph that was edited since. Stages may be added and changed; one that has run, or that
 * execution stands on, must still be there.
 */
export function adoptGraph(
  state: WorkflowState,
  graph: Graph,
): { readonly state: WorkflowState } | { readonly error: string } {
  const kinds = new Map(graph.stages.map((stage) => [stage.id, stage.kind]));
  for (const { stage, kind, why } of neededStages(state)) {
    const now = kinds.get(stage);
    if (now === undefined) return { error: `stage ${stage} is no longer in ${graph.file}, but ${why}` };
    if (kind !== undefined && kind !== now) return { error: `stage ${stage} is no ${kind} any more, but ${why}` };
  }
  return { state };
}

interface Needed {
  readonly stage: string;
  readonly kind?: StageKind;
  readonly why: string;
}
function neededStages(state: WorkflowState): Needed[] {
  const { tokens, blocks } = state;
  return [
    ...tokens.map(({ stage }) => ({ stage, why: "execution stands on it" })),
    ...blocks.flatMap(({ stage, join, branches }): Needed[] => [
      { stage, kind: "parallel", why: "its branches are under way" },
      { stage: join, kind: "join", why: "branches that are under way end there" },
      ...branches.map((branch) => ({ stage: branch.stage, why: "it is a branch that is under way" })),
    ]),
    ...begunStages(state).map((stage) => ({ stage, why: "it has run already" })),
  ];
}
