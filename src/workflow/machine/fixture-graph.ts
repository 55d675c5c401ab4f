import { parseExpression } from "../expression/parse.js";
import type {
  Graph,
  HumanStage,
  JoinStage,
  LlmStage,
  ParallelStage,
  Stage,
  ToolStage,
  Transition,
  WorkspaceStage,
} from "../graph.js";

/** Graphs in few words. */
const at = { line: 1, column: 1 };
export const named = (name: string) => ({ name, at });

const base = {
  at,
  label: null,
  maxAttempts: 1,
  retriesFail: false,
  backoff: { kind: "none", delayMs: 0, maxDelayMs: 0 },
  maxVisits: null,
  goalGate: false,
  retryTarget: null,
  fallbackRetryTarget: null,
  allowPartial: false,
} as const;

export function llm(id: string, patch: Partial<LlmStage> = {}): LlmStage {
  return {
    ...base,
    id,
    kind: "llm",
    prompt: { type: "text", text: `do ${id}`, at },
    model: { model: null, provider: null, effort: null },
    autoStatus: false,
    withoutStatus: "protocol",
    responseKey: id,
    timeoutMs: null,
    fidelity: "compact",
    thread: null,
    ...patch,
  };
}
export function review(id: string, patch: Partial<LlmStage> = {}): LlmStage {
  return llm(id, { autoStatus: true, ...patch });
}
export function tool(id: string, patch: Partial<ToolStage> = {}): ToolStage {
  return { ...base, id, kind: "tool", command: `run ${id}`, timeoutMs: 300_000, cwd: null, ...patch };
}
/** Options lead to the stages of their names. */
export function human(id: string, options: readonly string[], patch: Partial<HumanStage> = {}): HumanStage {
  return {
    ...base,
    id,
    kind: "human",
    prompt: "well?",
    options: options.map((key) => ({ key, label: key.toUpperCase(), to: named(key) })),
    reReview: true,
    requireFeedbackOn: [],
    detailsFrom: null,
    timeoutMs: null,
    default: null,
    ...patch,
  };
}
export function decision(id: string): Stage {
  return { ...base, id, kind: "decision" };
}
export function exit(id = "exit"): Stage {
  return { ...base, id, kind: "exit" };
}
export function parallel(id: string, branches: readonly string[], patch: Partial<ParallelStage> = {}): ParallelStage {
  const join = named(`${id}-join`);
  return {
    ...base,
    id,
    kind: "parallel",
    branches: branches.map(named),
    join,
    maxParallel: 4,
    branchTimeoutMs: null,
    ...patch,
  };
}
export function join(id: string, patch: Partial<JoinStage> = {}): JoinStage {
  return { ...base, id, kind: "join", policy: "all", quorum: 1, ...patch };
}
export function workspace(kind: WorkspaceStage["kind"], id: string): WorkspaceStage {
  return { ...base, id, kind, workspace: "ws" };
}
export function child(id: string): Stage {
  return { ...base, id, kind: "workflow", ref: named("other"), inputs: [{ key: "k", value: "$goal" }] };
}

/** `a -> b`, `a -> b if outcome("a") == "fail"`. */
export function way(text: string, patch: Partial<Transition> = {}): Transition {
  const [ends = "", when] = text.split(" if ");
  const [from = "", to = ""] = ends.split(" -> ");
  const parsed = when === undefined ? null : parseExpression(when, at);
  if (parsed && parsed.expression === null) throw new Error(`not an expression: ${when}`);
  return {
    from: named(from.trim()),
    to: named(to.trim()),
    when: parsed?.expression ?? null,
    priority: 0,
    label: null,
    restart: false,
    fidelity: null,
    thread: null,
    at,
    ...patch,
  };
}

export function graphOf(
  stages: readonly Stage[],
  ways: readonly (string | Transition)[],
  patch: Partial<Graph> = {},
): Graph {
  return {
    name: "flow",
    format: "kdl",
    file: "flow.awf.kdl",
    goal: "the goal",
    label: null,
    start: named(stages[0]?.id ?? ""),
    stages,
    transitions: ways.map((one) => (typeof one === "string" ? way(one) : one)),
    retryTarget: null,
    fallbackRetryTarget: null,
    ...patch,
  };
}
