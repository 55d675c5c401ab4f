import { refuseUnavailable } from "../../config/availability.js";
import { triggerNames } from "../../config/rules.js";
import { agentKinds } from "../../config/schema/agent.js";
import type { Mapping } from "../../config/source.js";
import type { AgentKind } from "../../core/settings.js";
import type { OfferedReviewer, TriggerName } from "./answers.js";

export interface Available {
  readonly agents: readonly AgentKind[];
  readonly reviewers: readonly OfferedReviewer[];
  readonly triggers: readonly TriggerName[];
  readonly triggerReviews: boolean;
}

const reviewers: readonly OfferedReviewer[] = ["agent_sdk", "cerberus", "command"];

/** Asked of the configuration itself, so that the wizard offers a thing on the day it can be used. */
export function availableKinds(): Available {
  const triggers = triggerNames.filter((name) => isAccepted(triggerOf(name, {}), `validation_triggers.${name}`));
  const reviewed = { code_review: { enabled: true } };
  return {
    agents: agentKinds.filter((type) => isAccepted({ agent: { type } }, "agent.type")),
    reviewers: reviewers.filter((type) => isAccepted({ per_issue_review: reviewBy(type) }, "per_issue_review")),
    triggers,
    triggerReviews: triggers.every((name) =>
      isAccepted({ ...triggerOf(name, reviewed), per_issue_review: reviewBy("command") }, "validation_triggers"),
    ),
  };
}

function reviewBy(type: OfferedReviewer): Mapping {
  return { enabled: true, reviewer_type: type, command: ["reviewer"] };
}

function triggerOf(name: TriggerName, section: Mapping): Mapping {
  return { validation_triggers: { [name]: section } };
}

function isAccepted(root: Mapping, key: string): boolean {
  const refused = refuseUnavailable({ file: "ratchet.yaml", root, places: new Map() }, new Set());
  return !refused.some((one) => one.key === key || one.key.startsWith(`${key}.`));
}
