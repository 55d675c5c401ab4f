import { resolve } from "node:path";
import type { AgentKind, CommandSettings, PanelMember, ReviewSettings, Settings, Trigger } from "../core/settings.js";
import { basicAgentEnv } from "../lib/environment.js";
import type { Validation } from "./availability.js";
import { isPresetName, presets } from "./presets.js";
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
  const commands = resolveCommands(written);
  const { idle_timeout_seconds, max_agents, validation_triggers: triggers, ...rest } = written;
  const use = <T>(name: Validation, section: T): T | null => (around.disabled.has(name) ? null : section);
  const asTrigger = <T extends WrittenTrigger>(section: T) => ({ ...section, ...resolveTrigger(section, commands) });
  const optional = <T extends WrittenTrigger>(name: Validation, section: T | null) => {
    const used = use(name, section);
    return used === null ? null : asTrigger(used);
  };
  return deepFreeze<Settings>({
    ...rest,
    commands,
    evidence_check: { required: [...new Set(written.evidence_check.required)] },
    agent: {
      ...written.agent,
      script: written.agent.script === null ? null : resolve(around.dir, written.agent.script),
      env: written.agent.env ?? [...basicAgentEnv, ...ownEnvironment[written.agent.type]],
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
  });
}

const ownEnvironment: Readonly<Record<AgentKind, readonly string[]>> = {
  claude: ["ANTHROPIC_*", "CLAUDE_*"],
  codex: ["OPENAI_*", "CODEX_*"],
  pi: ["PI_*"],
  acp: [],
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

/** A section that is off is as if it were not there; only the flag still counts. */
function perIssueReview(written: WrittenConfig, { disabled, maxReviewRetries }: Surroundings): ReviewSettings {
  const isOn = written.per_issue_review.enabled && !disabled.has("review");
  const review = resolveReview(isOn ? written.per_issue_review : reviewSection.parse({}));
  return { ...review, baseline: null, max_retries: maxReviewRetries ?? review.max_retries };
}

function resolveReview(written: WrittenReview): ReviewSettings {
  const { panel, ...review } = written;
  return {
    ...withCerberusEnv(review),
    panel: panel.map((member, index): PanelMember => {
      const name = member.name ?? `${member.reviewer_type}-${index + 1}`;
      return { ...withCerberusEnv(member), name };
    }),
  };
}

function withCerberusEnv<T extends { readonly cerberus: WrittenReview["cerberus"] }>(reviewer: T) {
  const { env, ...cerberus } = reviewer.cerberus;
  return {
    ...reviewer,
    cerberus: { ...cerberus, env: Array.isArray(env) ? Object.fromEntries(env.map(pairOf)) : env },
  };
}

function pairOf(entry: string): [string, string] {
  const equals = entry.indexOf("=");
  return [entry.slice(0, equals), entry.slice(equals + 1)];
}

function resolveTrigger(written: WrittenTrigger, commands: Readonly<Record<string, CommandSettings>>): Trigger {
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
    code_review: code_review === null || !code_review.enabled ? null : resolveReview(code_review),
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
