import { nearest } from "../../core/suggest.js";
import { usualParallel, usualToolMs, usualWorkspace } from "../defaults.js";
import type { Stage, UnknownStage } from "../graph.js";
import type { Named } from "../position.js";
import { canUseUpRetries } from "../retries.js";
import { readOptions, readRequiredFeedback } from "./human.js";
import { chooseModel, modelProperties } from "./models.js";
import type { KdlNode } from "./node.js";
import {
  count,
  fidelity,
  flag,
  type Get,
  type Located,
  limit,
  name,
  oneOf,
  readName,
  readNames,
  readProperties,
  refuseUnknown,
  type Table,
  toNamed,
  words,
} from "./properties.js";
import { need, type Reading, readBase, type StageBase, stageProperties } from "./reading.js";
import { addRoute, readInput, readPrompt } from "./stage-parts.js";

/** A stage as it is read: its node, what all stages have, and the properties of its kind. */
interface Parts<V> {
  readonly node: KdlNode;
  readonly base: StageBase;
  /** `stage "x"` */
  readonly what: string;
  readonly get: Get<V>;
  readonly profile: Named | null;
  readonly reading: Reading;
}
interface Kind<V> {
  readonly properties: Table<V>;
  readonly children?: readonly string[];
  /** What all stages have, but not this kind. */
  readonly without?: readonly string[];
  readonly canRetry?: boolean;
  readonly build: (parts: Parts<V>) => Stage;
}
interface StageReader {
  readonly properties: readonly string[];
  readonly read: (node: KdlNode, id: Named, reading: Reading) => Stage;
}

const passing = ["goal_gate", "retry_target", "fallback_retry_target", "allow_partial"];
const joinPolicy = oneOf("all", "any", "quorum");

/** Every kind of stage: its properties, its children, and what becomes of them. */
const kinds = {
  llm: kind({
    properties: {
      prompt: words,
      prompt_file: name,
      ...modelProperties,
      auto_status: flag,
      response_key_base: name,
      timeout: limit,
      fidelity,
      thread_id: name,
    },
    canRetry: true,
    build: ({ node, what, base, get, profile, reading }) => ({
      kind: "llm",
      ...base,
      prompt: readPrompt({ node, what, text: get("prompt"), files: get("prompt_file") }, reading),
      model: chooseModel(
        {
          model: get("model")?.value ?? null,
          provider: get("provider")?.value ?? null,
          effort: get("reasoning_effort")?.value ?? null,
        },
        profile,
        reading,
      ),
      autoStatus: get("auto_status")?.value ?? false,
      withoutStatus: "protocol",
      responseKey: get("response_key_base")?.value ?? base.id,
      timeoutMs: get("timeout")?.value ?? null,
      fidelity: get("fidelity")?.value ?? "compact",
      thread: get("thread_id")?.value ?? null,
    }),
  }),
  tool: kind({
    properties: { command: words, timeout: limit, cwd: name },
    canRetry: true,
    build: ({ node, what, base, get, reading }) => ({
      kind: "tool",
      ...base,
      command: need(get("command"), { node, key: "command", what }, reading.problems)?.value ?? "",
      timeoutMs: get("timeout")?.value ?? usualToolMs,
      cwd: get("cwd")?.value ?? null,
    }),
  }),
  human: kind({
    properties: {
      prompt: words,
      re_review: flag,
      details_from: name,
      timeout: limit,
      default: name,
      require_feedback_on: name,
    },
    children: ["option", "require_feedback_on"],
    build: ({ node, what, base, get, reading }) => ({
      kind: "human",
      ...base,
      prompt: need(get("prompt"), { node, key: "prompt", what }, reading.problems)?.value ?? "",
      options: readOptions(node, reading.problems),
      reReview: get("re_review")?.value ?? true,
      requireFeedbackOn: readRequiredFeedback(node, reading.problems),
      detailsFrom: get("details_from")?.value ?? null,
      timeoutMs: get("timeout")?.value ?? null,
      default: toNamed(get("default")),
    }),
  }),
  decision: kind({
    properties: {},
    children: ["route"],
    without: passing,
    build: ({ node, base, reading }) => {
      for (const route of node.children) if (route.name === "route") addRoute(route, base, reading);
      return { kind: "decision", ...base };
    },
  }),
  exit: kind({ properties: {}, without: passing, build: ({ base }) => ({ kind: "exit", ...base }) }),
  parallel: kind({
    properties: { join: name, max_parallel: count, branch_timeout: limit },
    children: ["branch"],
    build: ({ node, what, base, get, reading }) => ({
      kind: "parallel",
      ...base,
      branches: node.children.flatMap((child) => (child.name === "branch" ? readNames(child, reading.problems) : [])),
      join: toNamed(need(get("join"), { node, key: "join", what }, reading.problems)) ?? { name: "", at: node.at },
      maxParallel: get("max_parallel")?.value ?? usualParallel,
      branchTimeoutMs: get("branch_timeout")?.value ?? null,
    }),
  }),
  join: kind({
    properties: { policy: joinPolicy, quorum: count },
    build: ({ node, what, base, get, reading }) => {
      const policy = get("policy")?.value ?? "all";
      const quorum = get("quorum");
      if (policy === "quorum") need(quorum, { node, key: "quorum", what }, reading.problems);
      else if (quorum !== null) {
        const message = `"quorum" of ${what} has no effect under policy "${policy}"`;
        reading.problems.error({ at: quorum.at, rule: "no-effect", message, hint: 'write policy="quorum"' });
      }
      return { kind: "join", ...base, policy, quorum: quorum?.value ?? 1 };
    },
  }),
  workflow: kind({
    properties: { ref: name },
    children: ["input"],
    canRetry: true,
    build: ({ node, what, base, get, reading }) => ({
      kind: "workflow",
      ...base,
      ref: toNamed(need(get("ref"), { node, key: "ref", what }, reading.problems)) ?? { name: "", at: node.at },
      inputs: node.children.flatMap((child) => (child.name === "input" ? readInput(child, reading) : [])),
    }),
  }),
  "workspace.create": workspace("workspace.create"),
  "workspace.merge": workspace("workspace.merge"),
  "workspace.cleanup": workspace("workspace.cleanup"),
} satisfies Record<Exclude<Stage["kind"], "start" | "unknown">, StageReader>;

const kindNames = Object.keys(kinds);
const readers: ReadonlyMap<string, StageReader> = new Map(Object.entries(kinds));

export function readStage(node: KdlNode, reading: Reading): Stage | null {
  const id = readName(node, reading.problems);
  if (id === null) return null;
  const written = node.properties.find((property) => property.name === "kind")?.value;
  const wanted = written?.value;
  const reader = typeof wanted === "string" ? readers.get(wanted) : undefined;
  if (reader !== undefined) return reader.read(node, id, reading);
  const near = typeof wanted === "string" ? nearest(wanted, kindNames) : null;
  const message = written === undefined ? `stage "${id.name}" needs "kind"` : `unknown kind ${JSON.stringify(wanted)}`;
  const hint = near === null ? `one of ${kindNames.join(", ")}` : `did you mean "${near}"?`;
  reading.problems.error({ at: written?.at ?? node.at, rule: "unknown-kind", message, hint });
  return unknownStage(node, id, reading);
}

/** Kept, so that what leads to it is not told as an error of its own. */
function unknownStage(node: KdlNode, id: Named, reading: Reading): UnknownStage {
  const base = readBase({ node, id, get: () => null, canRetry: true }, reading);
  return { kind: "unknown", ...base, type: "" };
}

function kind<V>(entry: Kind<V>): StageReader {
  const names = Object.keys(entry.properties);
  const common = Object.keys(stageProperties).filter((key) => !entry.without?.includes(key));
  const properties = [...common, ...names];
  const children = [...(entry.children ?? []), "retry", "meta"];
  const canRetry = entry.canRetry ?? false;
  const read = (node: KdlNode, id: Named, reading: Reading): Stage => {
    const { problems } = reading;
    const what = `stage "${id.name}"`;
    refuseUnknown(node, { what, properties, children, elsewhere: kindsWith }, problems);
    const get = readProperties(node, { what, properties: stageProperties }, problems);
    const base = readBase({ node, id, get, canRetry }, reading);
    const profile = toNamed(get("model_profile"));
    const own = readProperties(node, { what, properties: entry.properties, lists: entry.children ?? [] }, problems);
    const stage = entry.build({ node, what, base, get: own, profile, reading });
    warnOfNoEffect(node, { stage, profile }, reading);
    warnOfNoRetries(get("allow_partial"), { stage, canRetry }, reading);
    return stage;
  };
  return { properties: names, read };
}

/** Other runners take these anywhere; here it is said that they do nothing. */
function warnOfNoEffect(
  node: KdlNode,
  { stage, profile }: { stage: Stage; profile: Named | null },
  reading: Reading,
): void {
  const { problems } = reading;
  const meta = node.children.find((child) => child.name === "meta");
  if (meta !== undefined) problems.warning({ at: meta.at, rule: "no-effect", message: '"meta" has no effect here' });
  if (profile === null || stage.kind === "llm") return;
  chooseModel({ model: null, provider: null, effort: null }, profile, reading);
  const message = `"model_profile" has no effect on a stage of kind ${stage.kind}`;
  problems.warning({ at: profile.at, rule: "no-effect", message });
}

/** Retries that are used up are what it is about. */
function warnOfNoRetries(
  allowed: Located<boolean> | null,
  { stage, canRetry }: { stage: Stage; canRetry: boolean },
  { problems }: Reading,
): void {
  if (allowed?.value !== true || canUseUpRetries(stage)) return;
  const message = `"allow_partial" has no effect on stage "${stage.id}": it is never tried again`;
  problems.warning({
    at: allowed.at,
    rule: "no-effect",
    message,
    ...(canRetry ? { hint: "add retry max_attempts=2" } : {}),
  });
}

function kindsWith(property: string): string | null {
  const found = Object.entries(kinds).filter(([, { properties }]) => properties.includes(property));
  return found.length === 0
    ? null
    : `"${property}" belongs to stages of kind ${found.map(([known]) => known).join(", ")}`;
}

function workspace(own: "workspace.create" | "workspace.merge" | "workspace.cleanup"): StageReader {
  return kind({
    properties: { workspace_name: name },
    canRetry: true,
    build: ({ base, get }) => ({ kind: own, ...base, workspace: get("workspace_name")?.value ?? usualWorkspace }),
  });
}
