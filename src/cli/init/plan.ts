import { presets } from "../../config/presets.js";
import type { ReviewerKind } from "../../core/settings.js";
import {
  type AgentAnswer,
  type Answers,
  type Found,
  type MemberAnswer,
  placeholderAgent,
  type ReviewerAnswer,
  type TriggerAnswer,
} from "./answers.js";

/** A ratchet.yaml as data: what is in it, and what is said about it. */
export type ConfigPlan = readonly PlannedSection[];

export interface PlannedSection {
  readonly key: string;
  readonly comment: readonly string[];
  readonly value: unknown;
  /** Said behind an entry of the value, by its key. */
  readonly remarks?: Readonly<Record<string, string>>;
}

export function planConfig(answers: Answers, found: Found): ConfigPlan {
  return [
    ...planPreset(answers),
    ...planCommands(answers, found),
    {
      key: "evidence_check",
      comment: [
        "The commands that must pass on the exact commit before an issue is done.",
        ...withoutEvidence(answers),
      ],
      value: { required: answers.required },
    },
    planAgent(answers),
    ...planReview(answers),
    ...planTriggers(answers),
  ];
}

function planPreset({ preset }: Answers): PlannedSection[] {
  if (preset === null) return [];
  const comment = ["A set of commands to start from; those below add to it, and null switches one off."];
  return [{ key: "preset", comment, value: preset }];
}

function planCommands({ preset, commands }: Answers, found: Found): PlannedSection[] {
  const ready: Readonly<Record<string, string>> = preset === null ? {} : presets[preset];
  const value: Record<string, string | null> = {};
  const remarks: Record<string, string> = {};
  for (const name of Object.keys(ready)) {
    if (Object.hasOwn(commands, name)) continue;
    value[name] = null;
    const why = preset === null ? null : found.candidates[preset].find((one) => one.name === name)?.why;
    if (why) remarks[name] = why;
  }
  for (const [name, line] of Object.entries(commands)) if (ready[name] !== line) value[name] = line;
  if (Object.keys(value).length === 0) return [];
  const comment = ["Run by `sh -c` in an issue's own checkout; `setup` once in each new one."];
  return [{ key: "commands", comment, value, remarks }];
}

function withoutEvidence({ required }: Answers): string[] {
  return required.length > 0 ? [] : ["None yet: a commit is all that is asked for."];
}

function planAgent({ agent }: Answers): PlannedSection {
  const { type, command } = agent;
  const comment =
    type === "command"
      ? [
          "Who implements the issues: any program. It is started in the issue's checkout with the prompt on stdin",
          "and commits its work; exit 0 says that it is done.",
          ...(isPlaceholder(command) ? ["my-agent stands for yours: put it here before the first run."] : []),
        ]
      : ["Who implements the issues."];
  return { key: "agent", comment, value: planAgentChoice(agent) };
}

function isPlaceholder([program]: readonly string[]): boolean {
  return program === placeholderAgent.command[0];
}

function planReview({ review }: Answers): PlannedSection[] {
  if (review === null) return [];
  const { type, members, maxRetries, threshold } = review;
  return [
    {
      key: "per_issue_review",
      comment: ["A review of each issue after its gate. This section also chooses the reviewer of all other reviews."],
      value: {
        enabled: true,
        ...(type === "panel" ? { reviewer_type: type, panel: members.map(planMember) } : planReviewer(review)),
        max_retries: maxRetries,
        finding_threshold: threshold,
      },
      remarks: {
        max_retries: "rounds of review an issue gets",
        finding_threshold: threshold === "none" ? "P0 and P1 block" : `${threshold} and worse block`,
      },
    },
  ];
}

function planMember(member: MemberAnswer): object {
  return { name: member.name, ...planReviewer(member) };
}

function planReviewer({ type, command, agent }: ReviewerAnswer<ReviewerKind>): object {
  if (type === "command") return { reviewer_type: type, command };
  return { reviewer_type: type, ...(type === "agent_sdk" ? { agent_sdk_agent: planAgentChoice(agent) } : {}) };
}

function planAgentChoice({ type, command }: AgentAnswer): object {
  return { type, ...(command.length > 0 ? { command } : {}) };
}

function planTriggers({ triggers, review }: Answers): PlannedSection[] {
  const sections = triggers.flatMap((trigger): [string, unknown][] => {
    const codeReview = trigger.codeReview && review !== null;
    if (trigger.commands.length === 0 && !codeReview) return [];
    return [[trigger.name, triggerSection(trigger, codeReview)]];
  });
  if (sections.length === 0) return [];
  const comment = ["Checks at certain moments of a run."];
  return [{ key: "validation_triggers", comment, value: Object.fromEntries(sections) }];
}

function triggerSection(trigger: TriggerAnswer, codeReview: boolean): Readonly<Record<string, unknown>> {
  const { name, commands, failureMode, maxRetries, interval, fireOn, epicDepth } = trigger;
  return {
    ...(name === "periodic" ? { interval } : {}),
    ...(name === "run_end" || name === "epic_completion" ? { fire_on: fireOn } : {}),
    ...(name === "epic_completion" ? { epic_depth: epicDepth } : {}),
    failure_mode: failureMode,
    ...(failureMode === "remediate" ? { max_retries: maxRetries } : {}),
    commands,
    ...(codeReview ? { code_review: { enabled: true } } : {}),
  };
}
