import { noBackoff, usualBackoff, usualParallel, usualToolMs, usualWorkspace } from "../defaults.js";
import type { Fidelity, HumanOption, ModelChoice, Named, Prompt, Stage, StageKind } from "../graph.js";
import type { Problems } from "../problems.js";
import { canUseUpRetries } from "../retries.js";
import { canFail, hasEffect } from "./attributes.js";
import { type DotNode, groupClasses } from "./document.js";
import { Fields } from "./fields.js";
import { findOption } from "./gates.js";
import { attributeOf, type Planned } from "./plan.js";
import { isEmpty, type Style, type Stylesheet, styleOf } from "./stylesheet.js";

/** What stages take from the graph around them. */
export interface Surroundings {
  readonly problems: Problems;
  readonly graph: Fields;
  readonly sheet: Stylesheet;
  readonly defaultFidelity: Fidelity | null;
  readonly defaultMaxRetries: number | null;
  readonly optionsOf: (id: string) => readonly HumanOption[];
  readonly branchesOf: (id: string) => readonly Named[];
  readonly joinOf: (id: string) => string | null;
  /** The policy that parallel stages give to their join. */
  readonly policyFor: (join: string) => JoinPolicy | null;
  /** How many branches end at a join. */
  readonly branchesInto: (join: string) => number;
}
export interface JoinPolicy {
  readonly policy: "all" | "any" | "quorum";
  readonly quorum: number;
}

type Base = Omit<Extract<Stage, { kind: "start" }>, "kind">;
interface Making {
  readonly plan: Planned;
  readonly fields: Fields;
  readonly base: Base;
  readonly around: Surroundings;
}

/** Kinds that do something which can fail by accident. */
const retried: ReadonlySet<StageKind> = new Set([
  "llm",
  "tool",
  "workflow",
  "workspace.create",
  "workspace.merge",
  "workspace.cleanup",
  "unknown",
]);

export function makeStage(plan: Planned, around: Surroundings): Stage {
  const fields = new Fields((key) => attributeOf(plan.node, key), around.problems);
  tellIdle(plan, around.problems);
  const stage = makers[plan.kind]({ plan, fields, around, base: makeBase(plan, fields, around) });
  if (stage.allowPartial && plan.node.own.has("allow_partial") && !canUseUpRetries(stage)) tellNoRetries(stage, fields);
  return stage;
}

function tellNoRetries({ id, at, kind }: Stage, fields: Fields): void {
  fields.warning({
    at: fields.value("allow_partial")?.keyAt ?? at,
    rule: "no-effect",
    message: `allow_partial changes nothing for ${id}: it is never tried again`,
    ...(retried.has(kind) ? { hint: "add max_retries=1" } : {}),
  });
}

/** A literal that begins with `...base` and goes on would cost V8 a new hidden class for each stage, so `kind` comes first. */
const makers: Readonly<Record<StageKind, (making: Making) => Stage>> = {
  start: ({ base }) => ({ kind: "start", ...base }),
  exit: ({ base }) => ({ kind: "exit", ...base }),
  decision: ({ base }) => ({ kind: "decision", ...base }),
  llm: makeLlm,
  tool: makeTool,
  human: makeHuman,
  parallel: makeParallel,
  join: makeJoin,
  workflow: makeWorkflow,
  "workspace.create": (making) => makeWorkspace(making, "workspace.create"),
  "workspace.merge": (making) => makeWorkspace(making, "workspace.merge"),
  "workspace.cleanup": (making) => makeWorkspace(making, "workspace.cleanup"),
  unknown: makeUnknown,
};

/** Attributes of its own that a stage of this kind does not look at; inherited ones are meant for others. */
function tellIdle({ node, kind }: Planned, problems: Problems): void {
  for (const [key, value] of node.own) {
    if (!hasEffect(kind, key))
      problems.warning({
        at: value.keyAt,
        rule: "no-effect",
        message: `${key} changes nothing for a stage of kind ${kind}`,
      });
  }
}

function makeBase({ node, kind }: Planned, fields: Fields, { defaultMaxRetries }: Surroundings): Base {
  const { maxAttempts, retriesFail, backoff } = retried.has(kind) ? readRetry(fields, defaultMaxRetries) : noRetry;
  const own = canFail(kind) ? fields : null;
  return {
    id: node.id,
    at: node.at,
    label: fields.text("label"),
    maxAttempts,
    retriesFail,
    backoff,
    maxVisits: fields.count("max_visits", 1),
    goalGate: own?.flag("goal_gate") ?? false,
    retryTarget: own?.named("retry_target") ?? null,
    fallbackRetryTarget: own?.named("fallback_retry_target") ?? null,
    allowPartial: own?.flag("allow_partial") ?? false,
  };
}

const backoffs = ["none", "fixed", "exponential"] as const;
type Retry = Pick<Base, "maxAttempts" | "retriesFail" | "backoff">;
const noRetry: Retry = { maxAttempts: 1, retriesFail: false, backoff: noBackoff };

/** `max_retries` counts what comes after the first execution, `retry.max_attempts` all of them. */
function readRetry(fields: Fields, defaultMaxRetries: number | null): Retry {
  const maxRetries = fields.count("max_retries") ?? defaultMaxRetries;
  const maxAttempts = fields.count("retry.max_attempts", 1) ?? (maxRetries === null ? null : maxRetries + 1);
  return {
    maxAttempts: maxAttempts ?? 1,
    retriesFail: fields.flag("retry.on_fail") ?? maxAttempts !== null,
    backoff: readBackoff(fields),
  };
}

function readBackoff(fields: Fields): Base["backoff"] {
  const kind = fields.oneOf("retry.backoff", backoffs);
  const delay = fields.duration("retry.delay");
  const most = fields.duration("retry.max_delay");
  if (kind === null && delay === null && most === null) return usualBackoff;
  if (kind === "none") return noBackoff;
  const delayMs = delay ?? usualBackoff.delayMs;
  return {
    kind: kind ?? usualBackoff.kind,
    delayMs,
    maxDelayMs: Math.max(delayMs, most ?? usualBackoff.maxDelayMs),
  };
}

function makeLlm({ base, plan, fields, around }: Making): Stage {
  const fidelity = fields.fidelity("fidelity") ?? around.defaultFidelity ?? "compact";
  const group = fidelity === "full" ? (groupClasses(plan.node)[0] ?? null) : null;
  return {
    kind: "llm",
    id: base.id,
    at: base.at,
    label: base.label,
    maxAttempts: base.maxAttempts,
    retriesFail: base.retriesFail,
    backoff: base.backoff,
    maxVisits: base.maxVisits,
    goalGate: base.goalGate,
    retryTarget: base.retryTarget,
    fallbackRetryTarget: base.fallbackRetryTarget,
    allowPartial: base.allowPartial,
    prompt: promptOf(plan, fields),
    model: modelOf(plan, around),
    autoStatus: fields.flag("auto_status") ?? false,
    withoutStatus: fields.oneOf("missing_status", ["protocol", "success"]) ?? "success",
    responseKey: fields.text("response_key_base")?.trim() ?? base.id,
    timeoutMs: fields.limit("timeout"),
    fidelity,
    thread: fields.text("thread_id") ?? group,
  };
}

/** Without a prompt the label says what to do, as Attractor has it. */
function promptOf({ node }: Planned, fields: Fields): Prompt {
  const files = fields.names("prompt_file");
  const prompt = fields.text("prompt");
  if (files.length > 0 && prompt !== null)
    fields.error({
      at: fields.value("prompt_file")?.keyAt ?? node.at,
      rule: "prompt",
      message: `${node.id} has a prompt and a prompt_file`,
      hint: "keep one of them",
    });
  if (files.length > 0 && prompt === null) return { type: "files", files };
  const label = fields.text("label");
  if (prompt === null && label === null && node.declared)
    fields.warning({
      at: node.at,
      rule: "prompt",
      message: `${node.id} has neither a prompt nor a label: its name is all that the agent is told`,
    });
  const at = fields.value(prompt === null ? "label" : "prompt")?.at ?? node.at;
  return { type: "text", text: prompt ?? label ?? node.id, at };
}

const noStyle: Style = {};
const usualModel: ModelChoice = { model: null, provider: null, effort: null };

/** Its own attribute, then the stylesheet, then what it inherits, then the graph's. */
function modelOf({ node, shape }: Planned, { sheet, graph }: Surroundings): ModelChoice {
  const style = isEmpty(sheet) ? noStyle : styleOf(sheet, { id: node.id, classes: classesOf(node), shape });
  const choose = (key: "llm_model" | "llm_provider" | "reasoning_effort"): string | null =>
    node.own.get(key)?.text.trim() ||
    style[key] ||
    node.inherited.get(key)?.text.trim() ||
    graph.text(key)?.trim() ||
    null;
  const [model, provider, effort] = [choose("llm_model"), choose("llm_provider"), choose("reasoning_effort")];
  return model === null && provider === null && effort === null ? usualModel : { model, provider, effort };
}

function classesOf(node: DotNode): string[] {
  const written = attributeOf(node, "class")?.text.split(/[\s,]+/) ?? [];
  return [...written.filter((name) => name !== ""), ...groupClasses(node)];
}

function makeTool({ base, fields }: Making): Stage {
  const command = fields.text("tool_command");
  if (command === null)
    fields.error({
      at: base.at,
      rule: "missing-command",
      message: `the tool stage ${base.id} has no tool_command`,
      hint: 'add tool_command="…"',
    });
  return {
    kind: "tool",
    ...base,
    command: command ?? "",
    timeoutMs: fields.limit("timeout") ?? usualToolMs,
    cwd: fields.text("cwd")?.trim() ?? null,
  };
}

function makeHuman({ base, fields, around }: Making): Stage {
  const options = around.optionsOf(base.id);
  const asName = (wanted: Named): Named => ({ ...wanted, name: findOption(options, wanted.name)?.key ?? wanted.name });
  const chosen = fields.named("human.default_choice");
  return {
    kind: "human",
    ...base,
    prompt: fields.text("prompt") ?? base.label ?? base.id,
    options,
    reReview: fields.flag("re_review") ?? true,
    requireFeedbackOn: fields.names("require_feedback_on").map(asName),
    detailsFrom: fields.text("details_from")?.trim() ?? null,
    timeoutMs: fields.limit("timeout"),
    default: chosen === null ? null : asName(chosen),
  };
}

function makeParallel({ base, fields, around }: Making): Stage {
  const branches = around.branchesOf(base.id);
  const join = fields.named("join") ?? { name: around.joinOf(base.id) ?? "", at: base.at };
  if (join.name === "")
    fields.error({
      at: base.at,
      rule: "parallel-join",
      message: `no join for the parallel stage ${base.id}: its branches must all lead to one node of shape tripleoctagon`,
      hint: 'draw the edges, or name it by join="…"',
    });
  const errors = fields.oneOf("error_policy", ["continue", "fail_fast", "ignore"]);
  if (errors === "fail_fast" || errors === "ignore")
    fields.warning({
      at: fields.value("error_policy")?.at ?? base.at,
      rule: "no-effect",
      message: `error_policy ${errors} is not known here: every branch runs to its end and counts`,
    });
  return {
    kind: "parallel",
    ...base,
    branches,
    join,
    maxParallel: fields.count("max_parallel", 1) ?? usualParallel,
    branchTimeoutMs: fields.limit("branch_timeout"),
  };
}

function makeJoin({ base, fields, around }: Making): Stage {
  const own = joinPolicy(fields, around.branchesInto(base.id));
  const { policy, quorum } = own ?? around.policyFor(base.id) ?? { policy: "all", quorum: 1 };
  return { kind: "join", ...base, policy, quorum };
}

/** `wait_all`, `first_success`, `k_of_n` with `k`, `quorum` with a number of branches or a part of them. */
export function joinPolicy(fields: Fields, branches: number): JoinPolicy | null {
  const word = fields.oneOf("join_policy", ["wait_all", "first_success", "k_of_n", "quorum"]);
  if (word !== "k_of_n" && word !== "quorum") tellIdleQuorum(fields);
  if (word === null) return null;
  if (word === "wait_all") return { policy: "all", quorum: 1 };
  if (word === "first_success") return { policy: "any", quorum: 1 };
  if (word === "k_of_n") return { policy: "quorum", quorum: fields.count("k", 1) ?? fields.count("quorum", 1) ?? 1 };
  const part = Number(fields.text("quorum") ?? "0.5");
  if (part > 0 && part < 1) return { policy: "quorum", quorum: Math.max(1, Math.ceil(part * branches)) };
  return { policy: "quorum", quorum: fields.count("quorum", 1) ?? 1 };
}

function tellIdleQuorum(fields: Fields): void {
  for (const key of ["quorum", "k"]) {
    const value = fields.value(key);
    if (value === undefined) continue;
    const message = `${key} changes nothing without join_policy=quorum or k_of_n`;
    fields.warning({ at: value.keyAt, rule: "no-effect", message });
  }
}

function makeWorkflow({ base, plan, fields, around }: Making): Stage {
  const ref = fields.named("ref") ?? fields.named("stack.child_dotfile") ?? around.graph.named("stack.child_dotfile");
  if (ref === null)
    fields.error({
      at: base.at,
      rule: "missing-ref",
      message: `the stage ${base.id} names no workflow to run`,
      hint: 'add stack.child_dotfile="other.dot" or ref="name"',
    });
  const given = new Map([...plan.node.inherited, ...plan.node.own]);
  const inputs = [...given]
    .filter(([key]) => key.startsWith("input."))
    .map(([key, value]) => ({ key: key.slice("input.".length), value: value.text }));
  return { kind: "workflow", ...base, ref: ref ?? { name: "", at: base.at }, inputs };
}

function makeWorkspace(
  { base, fields }: Making,
  kind: "workspace.create" | "workspace.merge" | "workspace.cleanup",
): Stage {
  return { kind, ...base, workspace: fields.text("workspace_name")?.trim() ?? usualWorkspace };
}

/** The checker says that it cannot be run. */
function makeUnknown({ base, plan }: Making): Stage {
  return { kind: "unknown", ...base, type: plan.word?.trim() ?? "" };
}
