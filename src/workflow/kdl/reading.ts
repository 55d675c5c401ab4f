import { noBackoff, usualBackoff } from "../defaults.js";
import { parseExpression } from "../expression/parse.js";
import type { ExitStage, Transition } from "../graph.js";
import type { Named } from "../position.js";
import type { Problems } from "../problems.js";
import type { Models } from "./models.js";
import type { KdlNode } from "./node.js";
import {
  condition,
  count,
  duration,
  flag,
  type Get,
  type Located,
  name,
  oneOf,
  type Reader,
  readProperties,
  refuseUnknown,
  text,
  toNamed,
  whole,
} from "./properties.js";

/** What the readers of one file share. */
export interface Reading {
  readonly problems: Problems;
  readonly models: Models;
  /** Added to by transitions and by the routes of decisions, in the order of the file. */
  readonly transitions: Transition[];
}

/** What every stage has, whatever it does. */
export type StageBase = Omit<ExitStage, "kind">;

type ValuesOf<T> = { [K in keyof T]: T[K] extends Reader<infer V> ? V : never };

export const stageProperties = {
  kind: text,
  label: text,
  model_profile: name,
  max_visits: count,
  goal_gate: flag,
  retry_target: name,
  fallback_retry_target: name,
  allow_partial: flag,
};
export type StageValues = ValuesOf<typeof stageProperties>;

/** Executions of a visit where the file says nothing: replies without a status and broken machinery get another try. */
const usualAttempts = 3;

export interface StageHead {
  readonly node: KdlNode;
  readonly id: Named;
  readonly get: Get<StageValues>;
  /** It does something that can fail by accident. */
  readonly canRetry: boolean;
}

export function readBase({ node, id, get, canRetry }: StageHead, { problems }: Reading): StageBase {
  const retry = readRetry(node, { what: `stage "${id.name}"`, canRetry }, problems);
  return {
    id: id.name,
    at: node.at,
    label: get("label")?.value ?? null,
    ...retry,
    maxVisits: get("max_visits")?.value ?? null,
    goalGate: get("goal_gate")?.value ?? false,
    retryTarget: toNamed(get("retry_target")),
    fallbackRetryTarget: toNamed(get("fallback_retry_target")),
    allowPartial: get("allow_partial")?.value ?? false,
  };
}

const retryProperties = {
  max_attempts: count,
  backoff: oneOf("none", "fixed", "exponential"),
  delay: duration,
  max_delay: duration,
};

type Retry = Pick<StageBase, "maxAttempts" | "retriesFail" | "backoff">;

/** `retry max_attempts=3 backoff="exponential" delay="1s" max_delay="60s"`; with it a plain failure is tried again, too. */
function readRetry(node: KdlNode, { what, canRetry }: { what: string; canRetry: boolean }, problems: Problems): Retry {
  const [retry, second] = node.children.filter((child) => child.name === "retry");
  if (second !== undefined)
    problems.error({ at: second.at, rule: "duplicate-node", message: `"retry" of ${what} is given twice` });
  if (!canRetry && retry !== undefined)
    problems.warning({ at: retry.at, rule: "no-effect", message: `"retry" has no effect on ${what}` });
  if (!canRetry) return { maxAttempts: 1, retriesFail: false, backoff: noBackoff };
  if (retry === undefined) return { maxAttempts: usualAttempts, retriesFail: false, backoff: usualBackoff };
  const inner = `"retry" of ${what}`;
  const get = readProperties(retry, { what: inner, properties: retryProperties }, problems);
  refuseUnknown(retry, { what: inner, properties: Object.keys(retryProperties), children: [] }, problems);
  refuseArgs(retry, problems);
  const attempts = need(get("max_attempts"), { node: retry, key: "max_attempts", what: inner }, problems);
  const kind = get("backoff")?.value ?? usualBackoff.kind;
  const delayMs = get("delay")?.value ?? usualBackoff.delayMs;
  const maxDelayMs = Math.max(delayMs, get("max_delay")?.value ?? usualBackoff.maxDelayMs);
  return {
    maxAttempts: attempts?.value ?? usualAttempts,
    retriesFail: true,
    backoff: kind === "none" ? noBackoff : { kind, delayMs, maxDelayMs },
  };
}

export function refuseArgs(node: KdlNode, problems: Problems): void {
  const [extra] = node.args;
  if (extra === undefined) return;
  const message = `"${node.name}" takes no value of its own, found ${JSON.stringify(extra.value).slice(0, 60)}`;
  problems.error({ at: extra.at, rule: "wrong-value", message });
}

export interface Needed {
  readonly node: KdlNode;
  readonly key: string;
  readonly what: string;
}

/** A property that must be there. One that is there but wrong has been told already. */
export function need<T>(
  located: Located<T> | null,
  { node, key, what }: Needed,
  problems: Problems,
): Located<T> | null {
  const isThere =
    node.properties.some(({ name: found }) => found === key) || node.children.some((child) => child.name === key);
  if (located === null && !isThere)
    problems.error({ at: node.at, rule: "missing", message: `${what} needs "${key}"`, hint: `add ${key}=…` });
  return located;
}

export interface Way {
  readonly node: KdlNode;
  readonly what: string;
  readonly from: Named | null;
  readonly get: Get<WayValues>;
}
export const wayProperties = { to: name, when: condition, priority: whole, label: text };
export type WayValues = ValuesOf<typeof wayProperties>;

/** A transition, or a route of a decision. */
export function addWay({ node, what, from, get }: Way, { problems, transitions }: Reading): void {
  const to = toNamed(need(get("to"), { node, key: "to", what }, problems));
  const when = readCondition(get("when"), problems);
  if (from === null || to === null) return;
  transitions.push({
    from,
    to,
    when,
    priority: get("priority")?.value ?? 0,
    label: get("label")?.value ?? null,
    restart: false,
    fidelity: null,
    thread: null,
    at: node.at,
  });
}

/** "true" is no condition at all. A condition that cannot be read must not become none: it is one that never holds. */
function readCondition(written: Located<string | boolean> | null, problems: Problems): Transition["when"] {
  if (written === null || written.value === true) return null;
  if (written.value === false) return { type: "literal", value: false };
  const { expression, diagnostics } = parseExpression(written.value, (index) => written.source.place(index));
  for (const { line, column, rule, message, hint } of diagnostics)
    problems.error({ at: { line, column }, rule, message, ...(hint === undefined ? {} : { hint }) });
  if (expression === null) return { type: "literal", value: false };
  return expression.type === "literal" && expression.value === true ? null : expression;
}
