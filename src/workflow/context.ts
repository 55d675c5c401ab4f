import type { Finding, Text } from "../core/finding.js";
import type { Graph } from "./graph.js";
import { withoutLineEnds } from "./line-ends.js";
import type { Json } from "./machine/events.js";
import { raisesFindings } from "./machine/graph-index.js";
import {
  begunStages,
  type ContextValue,
  compareOrder,
  recordOf,
  type Token,
  type Values,
  type WorkflowLife,
  type WorkflowState,
} from "./machine/state.js";
import { valueLayers, valueNames } from "./machine/values.js";

/**
 * The context as stages, conditions and prompts see it: a pure view of the life. What the engine knows (outcomes, the goal,
 * the findings) is computed and cannot be overwritten; the rest is what stages have put there. In a branch of a parallel
 * stage its own values come first, and those of other branches are not there before the join.
 */
export interface ContextView {
  get(key: string): ContextValue | undefined;
  has(key: string): boolean;
  /** Without `review.findings`, which prompts have a section of its own for. */
  keys(): string[];
}

export interface ReviewFinding {
  readonly stageId: string;
  /** The stage's visit. */
  readonly iteration: number;
  readonly status: "fail" | "partial_success";
  readonly failureReason: string;
  readonly response: Text;
  readonly timestamp: string;
}

export const findingsKey = "review.findings";
const full = "._full_response";
const why = ".failure_reason";

export function contextOf(life: WorkflowLife, graph: Graph, tokenId = "main"): ContextView {
  const { state } = life;
  const stored = (key: string) => storedValue(state, tokenId, key);
  const get = (key: string): ContextValue | undefined =>
    computed(life, { graph, tokenId, key }) ??
    stored(key) ??
    (key.endsWith(full) ? stored(`${key.slice(0, -full.length)}.response`) : undefined);
  return {
    get,
    has: (key) => get(key) !== undefined,
    keys: () => {
      const names = ["outcome", "preferred_label", "last_stage", "graph.goal"].filter((key) => get(key) !== undefined);
      const statuses = begunStages(state).flatMap((id) => [`${id}.status`, id + why]);
      const known = statuses.filter((key) => get(key) !== undefined);
      const own = tokenScopes(state, tokenId).flatMap((values) => Object.keys(values));
      const stored = [...own, ...valueNames(state)].filter((key) => key !== findingsKey && !key.startsWith("graph."));
      return [...new Set([...names, ...known, ...stored])];
    },
  };
}

/** What stages have put there under this name, as the token sees it. */
export function storedValue(state: WorkflowState, tokenId: string, key: string): ContextValue | undefined {
  return [...tokenScopes(state, tokenId), ...valueLayers(state)]
    .map((values) => own(values, key))
    .find((value) => value !== undefined);
}

/** Every open finding of the workflow's stages, in the order of execution; branches by their place, whoever was first. */
export function reviewFindings(life: Pick<WorkflowLife, "ledger">): ReviewFinding[] {
  return stageFindings(life).map((finding) => ({
    stageId: finding.stage,
    iteration: finding.visit,
    status: finding.outcome,
    failureReason: finding.title,
    response: finding.body,
    timestamp: new Date(finding.raised_at).toISOString(),
  }));
}

export function stageFindings({ ledger }: Pick<WorkflowLife, "ledger">): Finding[] {
  const open = ledger.findings.filter(({ status, order }) => status === "open" && order !== undefined);
  return open.sort((a, b) => compareOrder(a.order ?? [], b.order ?? []));
}

/** As a text, for prompts and commands. `read`: the whole of a text of which only the beginning is at hand. */
export function textOf(value: ContextValue, read: (text: Text) => string): string {
  if ("text" in value) {
    const whole = value.text.ref ? read(value.text) : value.text.text;
    return value.trimmed ? withoutLineEnds(whole) : whole;
  }
  return typeof value.json === "string" ? value.json : JSON.stringify(value.json);
}

/** For conditions. A text of which only the beginning is at hand is there, but no text or number that they name. */
export function plainOf(value: ContextValue | undefined): Json | undefined {
  if (value === undefined) return undefined;
  if (!("text" in value)) return value.json;
  return value.text.ref === undefined ? value.text.text : { beginning: value.text.text };
}

/** The value with one more entry; what is no list becomes the list of the one. Nothing that was there is changed. */
export function appendToArray(values: Values, key: string, entry: Json): Values {
  const known = own(values, key);
  const list = known !== undefined && "json" in known && Array.isArray(known.json) ? known.json : [];
  return { ...values, [key]: { json: [...list, entry] } };
}

const engineKeys: readonly string[] = [findingsKey, "outcome", "preferred_label", "last_stage", "tool.output"];
const enginePrefixes: readonly string[] = ["graph.", "human.gate."];

/** What the engine alone may say: what it computes, what stages and commands have said, what a person has answered. */
export function isEngineKey({ stages }: Graph, key: string): boolean {
  if (engineKeys.includes(key) || enginePrefixes.some((prefix) => key.startsWith(prefix))) return true;
  const [, base, kind] = /^(.*)\.(status|failure_reason|response|_full_response)$/s.exec(key) ?? [];
  if (kind === undefined) return false;
  const isOfStage = kind === "status" || kind === "failure_reason";
  return stages.some((stage) => (isOfStage ? stage.id : stage.kind === "llm" && stage.responseKey) === base);
}

/** A name that nothing but a workflow would mean: a word alone, or `$graph.svg`, may be the shell's. */
export function isEngineName(graph: Graph, name: string): boolean {
  return name.includes(".") && (name === "graph.goal" || (!name.startsWith("graph.") && isEngineKey(graph, name)));
}

/** `$goal` is short for graph.goal. */
export function keyOf(name: string): string {
  return name === "goal" ? "graph.goal" : name;
}

interface Asked {
  readonly graph: Graph;
  readonly tokenId: string;
  readonly key: string;
}
function computed(life: WorkflowLife, { graph, tokenId, key }: Asked): ContextValue | undefined {
  const { state } = life;
  const last = lastOf(state, tokenId);
  if (key === "graph.goal") return graph.goal === null ? undefined : { json: graph.goal };
  if (key === findingsKey) return findingsValue(life);
  if (key === "outcome") return last ? { json: last.outcome } : undefined;
  if (key === "last_stage") return last ? { json: last.stage } : undefined;
  if (key === "preferred_label") return last?.label ? { json: last.label } : undefined;
  if (key.endsWith(why)) return failureReason(state, graph, key.slice(0, -why.length));
  if (!key.endsWith(".status")) return undefined;
  const id = key.slice(0, -".status".length);
  const { outcome } = recordOf(state, id);
  return outcome === undefined ? undefined : { json: outcome };
}

/** Why a stage failed that adds no finding; of the others the finding says it. */
function failureReason(state: WorkflowState, { stages }: Graph, id: string): ContextValue | undefined {
  const { reason } = recordOf(state, id);
  if (reason === undefined) return undefined;
  const stage = stages.find((one) => one.id === id);
  return stage === undefined || raisesFindings(stage) ? undefined : { json: reason };
}

function findingsValue(life: WorkflowLife): ContextValue | undefined {
  const list = reviewFindings(life).map((finding) => ({ ...finding, response: finding.response.text }));
  return list.length === 0 ? undefined : { json: list };
}

function lastOf(state: WorkflowState, tokenId: string): Token["last"] {
  return state.tokens.find(({ id }) => id === tokenId)?.last ?? null;
}

/** The token's own values, then those of the tokens it was forked from. Everybody's come after them. */
function tokenScopes(state: WorkflowState, tokenId: string): Values[] {
  const scopes: Values[] = [];
  for (let id: string | null = tokenId; id !== null; ) {
    const token: Token | undefined = state.tokens.find((one) => one.id === id);
    if (token) scopes.push(token.values);
    id = token?.parent ?? null;
  }
  return scopes;
}

function own(values: Values, key: string): ContextValue | undefined {
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  return typeof value === "string" ? { json: value } : value;
}
