import type { PresetName } from "../../config/presets.js";
import type { triggerNames } from "../../config/rules.js";
import type { AgentKind, FailureMode, FindingThreshold, FireOn, ReviewerKind } from "../../core/settings.js";

export type TriggerName = (typeof triggerNames)[number];
/** One reviewer: what a panel is made of. */
export type SingleReviewer = Exclude<ReviewerKind, "panel">;

export interface AgentAnswer {
  readonly type: AgentKind;
  readonly command: readonly string[];
}

/** All that a ratchet.yaml is made from. There is a value for everything from the start; questions change it. */
export interface Answers {
  readonly preset: PresetName | null;
  readonly agent: AgentAnswer;
  /** Command lines by name: those that are on. */
  readonly commands: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  /** null: no review of each issue. */
  readonly review: ReviewAnswer | null;
  readonly triggers: readonly TriggerAnswer[];
}

/** `command` counts for a command, `agent` for agent_sdk. */
export interface ReviewerAnswer<Type = SingleReviewer> {
  readonly type: Type;
  readonly command: readonly string[];
  readonly agent: AgentAnswer;
}

export interface MemberAnswer extends ReviewerAnswer {
  readonly name: string;
}

export interface ReviewAnswer extends ReviewerAnswer<ReviewerKind> {
  /** Only of a panel. */
  readonly members: readonly MemberAnswer[];
  readonly maxRetries: number;
  readonly threshold: FindingThreshold;
}

export interface TriggerAnswer {
  readonly name: TriggerName;
  readonly commands: readonly string[];
  readonly failureMode: FailureMode;
  /** Only with remediate. */
  readonly maxRetries: number;
  /** Only of periodic. */
  readonly interval: number;
  /** Only of run_end and epic_completion. */
  readonly fireOn: FireOn;
  /** Only of epic_completion. */
  readonly epicDepth: "top_level" | "all";
  readonly codeReview: boolean;
}

/** What was found in the repository, on PATH and in this version of Ratchet. */
export interface Found {
  /** Presets whose file is there, in the order of the presets. */
  readonly stacks: readonly { readonly preset: PresetName; readonly file: string }[];
  readonly candidates: Readonly<Record<PresetName, readonly Candidate[]>>;
  readonly agents: readonly FoundAgent[];
  readonly reviewers: readonly { readonly type: ReviewerKind; readonly missing: string | null }[];
  readonly triggers: readonly TriggerName[];
  /** A trigger may ask the reviewer of per-issue reviews too. */
  readonly triggerReviews: boolean;
}

/** A command the project might have. */
export interface Candidate {
  readonly name: string;
  readonly line: string;
  /** It is really there and wanted unless somebody says otherwise. */
  readonly isOn: boolean;
  /** Why a command of the preset is off. */
  readonly why: string | null;
  /** It judges: worth demanding in the gate. */
  readonly isEvidence: boolean;
}

export interface FoundAgent {
  readonly program: string;
  readonly type: AgentKind;
  readonly command: readonly string[];
  readonly isOnPath: boolean;
  /** This version can drive it. */
  readonly isAvailable: boolean;
  /** This version can let it review. */
  readonly canReview: boolean;
}

/** Stands for the program only the user knows. */
export const placeholderAgent: AgentAnswer = { type: "command", command: ["my-agent"] };

export function defaultAnswers(found: Found, preset = found.stacks[0]?.preset ?? null): Answers {
  return { ...commandsOf(found, preset), agent: defaultAgent(found), review: null, triggers: [] };
}

/** What another preset changes: its commands, and what the gate demands of them. */
export function commandsOf(found: Found, preset: PresetName | null): Pick<Answers, "preset" | "commands" | "required"> {
  const on = preset === null ? [] : found.candidates[preset].filter(({ isOn }) => isOn);
  return {
    preset,
    commands: Object.fromEntries(on.map(({ name, line }) => [name, line])),
    required: on.filter(({ isEvidence }) => isEvidence).map(({ name }) => name),
  };
}

function defaultAgent({ agents }: Found): AgentAnswer {
  const available = agents.filter(({ isAvailable }) => isAvailable);
  const best = available.find(({ isOnPath }) => isOnPath) ?? available[0];
  return best === undefined ? placeholderAgent : { type: best.type, command: best.command };
}

export function defaultReview(type: ReviewerKind, agent: AgentAnswer): ReviewAnswer {
  return { type, command: [], agent, members: [], maxRetries: 3, threshold: "none" };
}

export function defaultTrigger(name: TriggerName, commands: readonly string[]): TriggerAnswer {
  return {
    name,
    commands,
    failureMode: "continue",
    maxRetries: 1,
    interval: 5,
    fireOn: "success",
    epicDepth: "top_level",
    codeReview: false,
  };
}
