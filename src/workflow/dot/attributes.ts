import type { StageKind } from "../graph.js";

/**
 * Every attribute that means something, by where it may stand. Others are told as unknown and left out at once, so that
 * the defaults which nodes inherit stay as small as this table.
 */
const graphAttributes = new Set([
  "goal",
  "label",
  "start",
  "model_stylesheet",
  "default_max_retries",
  "default_max_retry",
  "default_fidelity",
  "retry_target",
  "fallback_retry_target",
  "llm_model",
  "llm_provider",
  "reasoning_effort",
  "stack.child_dotfile",
]);
const edgeAttributes = new Set([
  "label",
  "condition",
  "weight",
  "fidelity",
  "thread_id",
  "loop_restart",
  "key",
  "plain",
]);
const everyStage = ["label", "shape", "type", "class", "max_visits"];
/** What becomes of a failure. Stages that only lead on have none. */
const ofFailure = ["goal_gate", "retry_target", "fallback_retry_target", "allow_partial"];
const leadingOn: ReadonlySet<StageKind> = new Set(["start", "exit", "decision"]);
const retry = ["max_retries", "retry.max_attempts", "retry.on_fail", "retry.backoff", "retry.delay", "retry.max_delay"];
const llm = [
  "prompt",
  "prompt_file",
  "llm_model",
  "llm_provider",
  "reasoning_effort",
  "auto_status",
  "missing_status",
  "response_key_base",
  "timeout",
  "fidelity",
  "thread_id",
  ...retry,
];
const workspace = ["workspace_name", ...retry];
const ofKind: Readonly<Record<StageKind, readonly string[]>> = {
  start: [],
  exit: [],
  decision: [],
  llm,
  tool: ["tool_command", "timeout", "cwd", ...retry],
  human: ["prompt", "timeout", "human.default_choice", "re_review", "require_feedback_on", "details_from"],
  parallel: ["join", "join_policy", "quorum", "k", "max_parallel", "branch_timeout", "error_policy"],
  join: ["join_policy", "quorum", "k"],
  workflow: ["stack.child_dotfile", "ref", ...retry],
  "workspace.create": workspace,
  "workspace.merge": workspace,
  "workspace.cleanup": workspace,
  unknown: [],
};
const nodeAttributes = new Set([...everyStage, ...ofFailure, ...Object.values(ofKind).flat()]);
const always = new Set(everyStage);

/** How a graph looks when Graphviz draws it: nothing to do with how it runs. */
const looks = new Set(
  (
    "arrowhead arrowsize arrowtail bb bgcolor center charset clusterrank color colorscheme comment compound concentrate " +
    "constraint decorate dir distortion dpi edgetooltip edgeURL fillcolor fixedsize fontcolor fontname fontnames fontpath " +
    "fontsize forcelabels gradientangle group headclip headlabel headport height href id image imagescale labelangle " +
    "labeldistance labelfloat labelfontcolor labelfontname labelfontsize labeljust labelloc landscape layer layout len " +
    "lhead ltail margin mclimit minlen newrank nodesep nojustify normalize ordering orientation outputorder overlap pack " +
    "pad page pencolor penwidth peripheries pin pos quantum rank rankdir ranksep ratio regular rotate samehead sametail " +
    "searchsize sep sides size skew splines style stylesheet tailclip taillabel tailport target tooltip truecolor URL " +
    "viewport width xlabel"
  ).split(" "),
);

export type Owner = "graph" | "node" | "edge";
const known = { graph: graphAttributes, node: nodeAttributes, edge: edgeAttributes };

export function attributeMeaning(owner: Owner, key: string): "known" | "looks" | "unknown" {
  if (known[owner].has(key)) return "known";
  if (owner === "node" && key.startsWith("input.") && key.length > "input.".length) return "known";
  return looks.has(key) ? "looks" : "unknown";
}

const names = new Map([...graphAttributes, ...edgeAttributes, ...nodeAttributes].map((name) => [name, name]));

/** One string for each attribute, however often a file names it. */
export function sameName(key: string): string {
  return names.get(key) ?? key;
}

export function knownAttributes(owner: Owner): Iterable<string> {
  return known[owner];
}

/** Does the attribute change anything about a stage of this kind? */
export function hasEffect(kind: StageKind, key: string): boolean {
  if (always.has(key) || kind === "unknown") return true;
  if (ofFailure.includes(key)) return canFail(kind);
  return ofKind[kind].includes(key) || (kind === "workflow" && key.startsWith("input."));
}

export function canFail(kind: StageKind): boolean {
  return !leadingOn.has(kind);
}
