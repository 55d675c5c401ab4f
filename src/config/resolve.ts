import { resolve } from "node:path";
import { reviewerSource } from "../core/reviewer-source.js";
import type {
  AgentChoice,
  AgentKind,
  AgentSettings,
  CommandSettings,
  PanelMember,
  ReviewSettings,
  Settings,
  TokenPrice,
  Trigger,
} from "../core/settings.js";
import { basicAgentEnv } from "../lib/environment.js";
import type { Validation } from "./availability.js";
import { isPresetName, presets } from "./presets.js";
import { agentKinds } from "./schema/agent.js";
import { reviewSection } from "./schema/review.js";
import type { WrittenConfig } from "./schema/root.js";

/** What the settings depend on besides the file. */
export interface Surroundings {
  /** The folder of the configuration file. */
  readonly dir: string;
  readonly machine: { readonly cores: number; readonly freeMemoryBytes: number };
  readonly maxReviewRetries: number | null;
  readonly disabled: ReadonlySet<Validation>;
}

/** The checked configuration with everything filled in that depends on something else. */
export function resolveSettings(written: WrittenConfig, around: Surroundings): Settings {
  const settings = resolveSections(written, around);
  const all = around.disabled.size === 0 ? settings : resolveSections(written, { ...around, disabled: new Set() });
  const { section, review } = reviewerSource(all);
  const isLeftOut = section !== "default" && review !== null && section !== reviewerSource(settings).section;
  const { session_end } = all.validation_triggers;
  const isWithoutSessionEnd = session_end !== null && settings.validation_triggers.session_end === null;
  return deepFreeze<Settings>({
    ...settings,
    ...(isLeftOut ? { left_out_reviewer: { section, review } } : {}),
    ...(isWithoutSessionEnd ? { left_out_session_end: session_end } : {}),
  });
}

function resolveSections(written: WrittenConfig, around: Surroundings): Settings {
  const commands = resolveCommands(written);
  const { idle_timeout_seconds, max_agents, validation_triggers: triggers, ...rest } = written;
  const use = <T>(name: Validation, section: T): T | null => (around.disabled.has(name) ? null : section);
  const asTrigger = <T extends WrittenTrigger>(section: T) => ({
    ...section,
    ...resolveTrigger(section, commands, written.agent.env),
  });
  const optional = <T extends WrittenTrigger>(name: Validation, section: T | null) => {
    const used = use(name, section);
    return used === null ? null : asTrigger(used);
  };
  return {
    ...rest,
    commands,
    evidence_check: { required: [...new Set(written.evidence_check.required)] },
    agent: {
      ...written.agent,
      script: written.agent.script === null ? null : resolve(around.dir, written.agent.script),
      env: written.agent.env ?? agentEnvironment(written.agent.type),
      fallback: resolveFallback(written.agent),
      prices: resolvePrices(written.agent.prices),
    },
    idle_timeout_seconds: idle_timeout_seconds ?? defaultIdleSeconds(written.timeout_minutes),
    max_agents: max_agents === "auto" ? automaticAgents(around.machine) : max_agents,
    per_issue_review: perIssueReview(written, around),
    validation_triggers: {
      session_end: optional("session_end", triggers.session_end),
      run_end: optional("run_end", triggers.run_end),
      epic_completion: optional("epic_completion", triggers.epic_completion),
      periodic: optional("periodic", triggers.periodic),
    },
  };
}

type WrittenAgent = WrittenConfig["agent"];

/** A text is a kind of agent, or else a model of the same one. */
function resolveFallback(agent: WrittenAgent): AgentChoice | null {
  const { fallback, env, type, command } = agent;
  if (fallback === null) return null;
  if (typeof fallback !== "string") return withEnvironment(fallback, env);
  const kind = agentKinds.find((one) => one === fallback);
  const choice = kind ? { type: kind, model: null, command: [] } : { type, model: fallback, command };
  return withEnvironment({ ...choice, effort: null }, env);
}

function withEnvironment(choice: Omit<AgentChoice, "env">, given: readonly string[] | undefined): AgentChoice {
  return { ...choice, env: given ?? agentEnvironment(choice.type) };
}

function resolvePrices(written: WrittenAgent["prices"]): AgentSettings["prices"] {
  const entries = Object.entries(written).map(([model, { cached, ...price }]): [string, TokenPrice] => [
    model,
    cached === undefined ? price : { ...price, cached },
  ]);
  return Object.fromEntries(entries);
}

/** What an agent may see of our environment where nothing else is said. */
export function agentEnvironment(kind: AgentKind): readonly string[] {
  return [...basicAgentEnv, ...ownEnvironment[kind]];
}

/** TZ, because they tell until when a limit holds by the clock on the wall. */
const ownEnvironment: Readonly<Record<AgentKind, readonly string[]>> = {
  claude: ["ANTHROPIC_*", "CLAUDE_*", "AWS_*", "IS_SANDBOX", "TZ"],
  codex: ["OPENAI_*", "CODEX_*", "TZ"],
  pi: ["TZ", "PI_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*"],
  acp: ["TZ", "ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*", "GEMINI_*", "OPENCODE_*", "IS_SANDBOX"],
  command: [],
  scripted: [],
};

/** One agent for each core and each GB of free memory, at least 1, at most 8. */
function automaticAgents({ cores, freeMemoryBytes }: Surroundings["machine"]): number {
  const gigabytes = Math.floor(freeMemoryBytes / 1e9);
  return Math.max(1, Math.min(8, Math.floor(cores), gigabytes));
}

/** A fifth of the turn, between 5 and 15 minutes, and never longer than the turn. */
function defaultIdleSeconds(timeoutMinutes: number): number {
  const turn = timeoutMinutes * 60;
  return Math.min(turn, Math.max(300, Math.min(900, turn * 0.2)));
}

function resolveCommands(written: WrittenConfig): Record<string, CommandSettings> {
  const ready: Readonly<Record<string, string>> = isPresetName(written.preset) ? presets[written.preset] : {};
  const commands = new Map<string, CommandSettings>();
  const add = (name: string, given: WrittenCommand): void => {
    const { command = "", timeout = name === "setup" ? 900 : 120, allow_fail = false, exclusive = false } = given;
    commands.set(name, { command, timeout, allow_fail, exclusive });
  };
  for (const [name, command] of Object.entries(ready)) add(name, { command });
  for (const [name, given] of Object.entries(written.commands)) {
    if (given === null) commands.delete(name);
    else if (typeof given === "string") add(name, { command: given });
    else add(name, { ...given, command: given.command ?? ready[name] });
  }
  return Object.fromEntries(commands);
}

interface WrittenCommand {
  readonly command?: string | undefined;
  readonly timeout?: number | undefined;
  readonly allow_fail?: boolean;
  readonly exclusive?: boolean;
}

type WrittenReview = WrittenConfig["per_issue_review"];
type WrittenTrigger = NonNullable<WrittenConfig["validation_triggers"]["session_end"]>;

/**
 * A section that is off in the file is as if it were not there; only the flag for its rounds still counts. One that a flag
 * leaves out reviews no issue, and what it says of pull requests still holds.
 */
function perIssueReview(written: WrittenConfig, { disabled, maxReviewRetries }: Surroundings): ReviewSettings {
  const { per_issue_review: section, agent } = written;
  const review = resolveReview(section.enabled ? section : reviewSection.parse({}, { jitless: true }), agent.env);
  const enabled = section.enabled && !disabled.has("review");
  return { ...review, enabled, baseline: null, max_retries: maxReviewRetries ?? review.max_retries };
}

/** `given`: the written agent.env, which holds for reviewing agents too. */
function resolveReview(written: WrittenReview, given: readonly string[] | undefined): ReviewSettings {
  const { panel, ...review } = written;
  return {
    ...resolveReviewer(review, given),
    panel: panel.map((member, index): PanelMember => {
      const name = member.name ?? `${member.reviewer_type}-${index + 1}`;
      return { ...resolveReviewer(member, given), name };
    }),
  };
}

function resolveReviewer<T extends Pick<WrittenReview, "cerberus" | "agent_sdk_agent">>(
  reviewer: T,
  given: readonly string[] | undefined,
) {
  const { env, ...cerberus } = reviewer.cerberus;
  const { agent_sdk_agent: agent } = reviewer;
  return {
    ...reviewer,
    agent_sdk_agent: agent === null ? null : withEnvironment(agent, given),
    cerberus: { ...cerberus, env: Array.isArray(env) ? Object.fromEntries(env.map(pairOf)) : env },
  };
}

function pairOf(entry: string): [string, string] {
  const equals = entry.indexOf("=");
  return [entry.slice(0, equals), entry.slice(equals + 1)];
}

function resolveTrigger(
  written: WrittenTrigger,
  commands: Readonly<Record<string, CommandSettings>>,
  given: readonly string[] | undefined,
): Trigger {
  const { code_review } = written;
  return {
    failure_mode: written.failure_mode,
    max_retries: written.max_retries ?? 0,
    timeout: written.timeout,
    commands: written.commands.map((entry) => {
      const { ref, command, timeout } = typeof entry === "string" ? { ref: entry } : { ...entry };
      const named = Object.hasOwn(commands, ref) ? commands[ref] : undefined;
      return { ref, command: command ?? named?.command ?? "", timeout: timeout ?? named?.timeout ?? 120 };
    }),
    code_review: code_review === null || !code_review.enabled ? null : resolveReview(code_review, given),
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
