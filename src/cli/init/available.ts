import { refuseUnavailable } from "../../config/availability.js";
import { triggerNames } from "../../config/rules.js";
import { agentKinds } from "../../config/schema/agent.js";
import type { Mapping } from "../../config/source.js";
import type { AgentKind, ReviewerKind } from "../../core/settings.js";
import type { TriggerName } from "./answers.js";

export interface Available {
  readonly agents: readonly AgentKind[];
  /** Those that can be the agent of agent_sdk. */
  readonly reviewingAgents: readonly AgentKind[];
  readonly reviewers: readonly ReviewerKind[];
  readonly triggers: readonly TriggerName[];
  readonly triggerReviews: boolean;
}

const reviewers: readonly ReviewerKind[] = ["agent_sdk", "cerberus", "command", "panel"];

/** Asked of the configuration itself, so that the wizard offers a thing on the day it can be used. */
export function availableKinds(): Available {
  const triggers = triggerNames.filter((name) => isAccepted(triggerOf(name, {}), `validation_triggers.${name}`));
  const reviewed = { code_review: { enabled: true } };
  const review = (section: Mapping) => isAccepted({ per_issue_review: section }, "per_issue_review");
  return {
    agents: agentKinds.filter((type) => isAccepted({ agent: { type } }, "agent.type")),
    reviewingAgents: agentKinds.filter((type) => review({ ...reviewBy("agent_sdk"), agent_sdk_agent: { type } })),
    reviewers: reviewers.filter((type) => review(reviewBy(type))),
    triggers,
    triggerReviews: triggers.every((name) =>
      isAccepted({ ...triggerOf(name, reviewed), per_issue_review: reviewBy("command") }, "validation_triggers"),
    ),
  };
}

/** An agent is always named: the one it would be by default may not be there. */
function reviewBy(type: ReviewerKind): Mapping {
  const member = { reviewer_type: "command", command: ["reviewer"] };
  const agent_sdk_agent = { type: "command" };
  return { enabled: true, reviewer_type: type, command: ["reviewer"], agent_sdk_agent, panel: [member] };
}

function triggerOf(name: TriggerName, section: Mapping): Mapping {
  return { validation_triggers: { [name]: section } };
}

function isAccepted(root: Mapping, key: string): boolean {
  const refused = refuseUnavailable({ file: "ratchet.yaml", root, places: new Map() });
  return !refused.some((one) => one.key === key || one.key.startsWith(`${key}.`));
}
