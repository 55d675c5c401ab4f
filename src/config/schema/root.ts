import * as z from "zod";
import { agentSection } from "./agent.js";
import { commandKeys } from "./commands.js";
import { deliveryKeys } from "./delivery.js";
import { limitKeys, storageKeys } from "./limits.js";
import { reviewSection } from "./review.js";
import { triggersSection } from "./triggers.js";

const { preset, commands, commands_env, evidence_check } = commandKeys;
const { budgets, convergence, ...limits } = limitKeys;

/** ratchet.yaml, key by key in the order of the reference. */
export const configSchema = z.strictObject({
  preset,
  commands,
  evidence_check,
  commands_env,
  agent: agentSection,
  ...limits,
  per_issue_review: reviewSection
    .prefault({})
    .describe(
      "A review of each issue after its gate and session_end. Enabling it also chooses the reviewer of all reviews.",
    ),
  validation_triggers: triggersSection,
  ...deliveryKeys,
  budgets,
  convergence,
  ...storageKeys,
});
export type WrittenConfig = z.output<typeof configSchema>;
