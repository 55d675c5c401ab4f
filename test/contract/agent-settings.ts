import type { AgentSettings } from "../../src/core/settings.js";

/** Nothing is configured. */
export const agentSettings: AgentSettings = {
  type: "command",
  model: null,
  effort: null,
  command: [],
  script: null,
  workflow: null,
  sandbox: "none",
  fallback: null,
  prices: {},
  backoff_seconds: [],
  env: [],
};
