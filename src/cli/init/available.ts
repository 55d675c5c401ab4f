import { refuseUnavailable } from "../../config/availability.js";
import { triggerNames } from "../../config/rules.js";
import { agentKinds } from "../../config/schema/agent.js";
import type { Mapping } from "../../config/source.js";
import type { AgentKind } from "../../core/settings.js";
import type { OfferedReviewer, TriggerName } from "./answers.js";

export interface Available {
  readonly agents: readonly AgentKind[];
  readonly reviewers: readonly OfferedReviewer[];
  /** agent_sdk is only there with an agent of its own. */
  readonly namesReviewingAgent: boolean;
  readonly triggers: readonly TriggerName[];
  readonly triggerReviews: boolean;
}

const reviewers: readonly OfferedReviewer[] = ["agent_sdk", "cerberus", "command"];

/** Asked of the configuration itself, so that the wizard offers a thing on the day it can be used. */
export function availableKinds(): Available {
  const triggers = triggerNames.filter((name) => isAccepted(triggerOf(name, {}), `validation_triggers.${name}`));
  const reviewed = { code_review: { enabled: true } };
  const review = (section: Mapping) => isAccepted({ per_issue_review: section }, "per_issue_review");
  const namesReviewingAgent = !review(reviewBy("agent_sdk"));
  const named = { agent_sdk_agent: { type: "command" } };
  return {
    agents: agentKinds.filter((type) => isAccepted({ agent: { type } }, "agent.type")),
    reviewers: reviewers.filter((type) => review({ ...reviewBy(type), ...(type === "agent_sdk" ? named : {}) })),
    namesReviewingAgent,
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
