import { usualBackoff, usualParallel, usualToolMs } from "../../workflow/defaults.js";
import { splitLabel } from "../../workflow/dot/accelerator.js";
import type { Graph, HumanOption, ModelChoice, Stage, Transition } from "../../workflow/graph.js";
import { toDotCondition } from "./condition-text.js";
import { dotWeights } from "./weights.js";

export type Attribute = readonly [key: string, value: string | number | boolean | null];

const shapes: Readonly<Record<Stage["kind"], string>> = {
  start: "Mdiamond",
  exit: "Msquare",
  llm: "box",
  human: "hexagon",
  decision: "diamond",
  parallel: "component",
  join: "tripleoctagon",
  tool: "parallelogram",
  workflow: "house",
  "workspace.create": "folder",
  "workspace.merge": "folder",
  "workspace.cleanup": "folder",
  unknown: "box",
};

/**
 * The workflow as a DOT file: Graphviz draws it, and parsed again it takes the same path. It is the same graph, control
 * characters apart, and the weights that stand for the order of a KDL file.
 */
export function toDot(graph: Graph): string {
  const lines = [`digraph ${id(graph.name)} {`];
  const about: Attribute[] = [
    ["goal", graph.goal],
    ["label", graph.label],
    ["start", graph.stages.find(({ kind }) => kind === "start")?.id === graph.start.name ? null : graph.start.name],
    ["retry_target", graph.retryTarget?.name ?? null],
    ["fallback_retry_target", graph.fallbackRetryTarget?.name ?? null],
  ];
  for (const [key, value] of about) if (value !== null && value !== "") lines.push(`  ${key}=${printed(value)};`);
  for (const stage of graph.stages) lines.push(`  ${id(stage.id)}${block(stageAttributes(stage))};`);
  for (const { from, to, attributes } of edgesOf(graph)) lines.push(`  ${id(from)} -> ${id(to)}${block(attributes)};`);
  lines.push("}");
  return `${lines.join("\n")}\n`;
}

export function stageAttributes(stage: Stage): Attribute[] {
  const isTyped = stage.kind.startsWith("workspace.") || stage.kind === "unknown";
  return [
    ["shape", shapes[stage.kind]],
    ["type", isTyped ? (stage.kind === "unknown" ? stage.type : stage.kind) : null],
    ["label", stage.label],
    ...kindAttributes(stage),
    ...(isRetried(stage) ? retryAttributes(stage) : []),
    ["max_visits", stage.maxVisits],
    ["goal_gate", stage.goalGate || null],
    ["retry_target", stage.retryTarget?.name ?? null],
    ["fallback_retry_target", stage.fallbackRetryTarget?.name ?? null],
    ["allow_partial", stage.allowPartial || null],
  ];
}

function isRetried({ kind }: Stage): boolean {
  return (
    kind === "llm" || kind === "tool" || kind === "workflow" || kind === "unknown" || kind.startsWith("workspace.")
  );
}

function retryAttributes({ maxAttempts, retriesFail, backoff }: Stage): Attribute[] {
  const isUsual = backoff.kind === usualBackoff.kind;
  return [
    ["max_retries", retriesFail ? maxAttempts - 1 : null],
    ["retry.max_attempts", retriesFail || maxAttempts === 1 ? null : maxAttempts],
    ["retry.on_fail", retriesFail || maxAttempts === 1 ? null : false],
    ["retry.backoff", isUsual ? null : backoff.kind],
    [
      "retry.delay",
      backoff.kind === "none" || backoff.delayMs === usualBackoff.delayMs ? null : duration(backoff.delayMs),
    ],
    [
      "retry.max_delay",
      backoff.kind === "none" || backoff.maxDelayMs === usualBackoff.maxDelayMs ? null : duration(backoff.maxDelayMs),
    ],
  ];
}

function kindAttributes(stage: Stage): Attribute[] {
  switch (stage.kind) {
    case "llm":
      return llmAttributes(stage);
    case "tool":
      return [
        ["tool_command", stage.command],
        ["timeout", stage.timeoutMs === usualToolMs ? null : duration(stage.timeoutMs)],
        ["cwd", stage.cwd],
      ];
    case "human":
      return [
        ["prompt", stage.prompt],
        ["timeout", stage.timeoutMs === null ? null : duration(stage.timeoutMs)],
        ["human.default_choice", stage.default?.name ?? null],
        ["re_review", stage.reReview ? null : false],
        ["require_feedback_on", stage.requireFeedbackOn.map(({ name }) => name).join(",") || null],
        ["details_from", stage.detailsFrom],
      ];
    case "parallel":
      return [
        ["join", stage.join.name],
        ["max_parallel", stage.maxParallel === usualParallel ? null : stage.maxParallel],
        ["branch_timeout", stage.branchTimeoutMs === null ? null : duration(stage.branchTimeoutMs)],
      ];
    case "join":
      return stage.policy === "quorum"
        ? [
            ["join_policy", "quorum"],
            ["quorum", stage.quorum],
          ]
        : [["join_policy", stage.policy === "any" ? "first_success" : "wait_all"]];
    case "workflow":
      return [["ref", stage.ref.name], ...stage.inputs.map(({ key, value }): Attribute => [`input.${key}`, value])];
    case "workspace.create":
    case "workspace.merge":
    case "workspace.cleanup":
      return [["workspace_name", stage.workspace]];
    default:
      return [];
  }
}

function llmAttributes(stage: Extract<Stage, { readonly kind: "llm" }>): Attribute[] {
  const { prompt, model } = stage;
  return [
    prompt.type === "text" ? ["prompt", prompt.text] : ["prompt_file", prompt.files.map(({ name }) => name).join(",")],
    ...modelAttributes(model),
    ["auto_status", stage.autoStatus || null],
    ["missing_status", stage.withoutStatus === "protocol" ? "protocol" : null],
    ["response_key_base", stage.responseKey === stage.id ? null : stage.responseKey],
    ["timeout", stage.timeoutMs === null ? null : duration(stage.timeoutMs)],
    ["fidelity", stage.fidelity === "compact" ? null : stage.fidelity],
    ["thread_id", stage.thread],
  ];
}

function modelAttributes({ model, provider, effort }: ModelChoice): Attribute[] {
  return [
    ["llm_model", model],
    ["llm_provider", provider],
    ["reasoning_effort", effort],
  ];
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly attributes: readonly Attribute[];
}

/** The answers of a human gate and the branches of a parallel stage are edges in DOT. */
export function edgesOf(graph: Graph): Edge[] {
  const kinds = new Map(graph.stages.map((stage) => [stage.id, stage.kind]));
  const weights = dotWeights(graph);
  return [
    ...graph.stages.flatMap(ownEdges),
    ...graph.transitions.map((transition) => ({
      from: transition.from.name,
      to: transition.to.name,
      attributes: edgeAttributes(
        { ...transition, priority: weights.get(transition) ?? 0 },
        kinds.get(transition.from.name) ?? null,
      ),
    })),
  ];
}

function ownEdges(stage: Stage): Edge[] {
  if (stage.kind === "human")
    return stage.options.map((option) => ({
      from: stage.id,
      to: option.to.name,
      attributes: optionAttributes(option),
    }));
  if (stage.kind !== "parallel") return [];
  return stage.branches.map(({ name }) => ({ from: stage.id, to: name, attributes: [] }));
}

function optionAttributes({ key, label }: HumanOption): Attribute[] {
  const short = `[${key}] ${label}`;
  const read = splitLabel(short);
  if (read.key === key && read.text === label) return [["label", short]];
  return [
    ["key", key],
    ["label", label],
  ];
}

function edgeAttributes({ when, ...rest }: Transition, kind: Stage["kind"] | null): Attribute[] {
  return [
    ["label", rest.label],
    ["condition", when === null ? null : toDotCondition(when)],
    ["weight", rest.priority === 0 ? null : rest.priority],
    ["fidelity", rest.fidelity],
    ["thread_id", rest.thread],
    ["loop_restart", rest.restart || null],
    ["plain", kind === "human" || kind === "parallel" ? true : null],
  ];
}

function block(attributes: readonly Attribute[]): string {
  const written = attributes.flatMap(([key, value]) => (value === null ? [] : [`${keyText(key)}=${printed(value)}`]));
  return written.length === 0 ? "" : ` [${written.join(", ")}]`;
}

function keyText(key: string): string {
  return /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(key) ? key : quote(key);
}

function printed(value: string | number | boolean): string {
  return typeof value === "string" ? id(value) : String(value);
}

function id(name: string): string {
  const isKeyword = /^(?:strict|graph|digraph|node|edge|subgraph)$/i.test(name);
  return /^[A-Za-z_]\w*$/.test(name) && !isKeyword ? name : quote(name);
}

function quote(text: string): string {
  const safe = text.replace(/\r\n/g, "\n").replace(/\p{Cc}/gu, shown);
  return `"${safe.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t")}"`;
}

/** DOT cannot say a control character, and as such it would reach the terminal: its picture stands for it. */
function shown(character: string): string {
  if (character === "\n" || character === "\t") return character;
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\u2421";
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** In the largest unit that leaves a whole number. */
function duration(ms: number): string {
  const unit = ms === 0 ? undefined : units.find(([, size]) => ms % size === 0);
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`;
}
