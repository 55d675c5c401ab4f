import type { AgentSettings } from "../../core/settings.js";
import { proveGuard, type Unproven } from "../../hook/self-test.js";
import { hookProof } from "../guard-proof.js";
import { messagesReply } from "../messages-proof.js";
import type { AgentPlace } from "../place.js";
import { callClaude, prepareClaude } from "./call.js";

/** claude as a turn starts it, with nothing of the user's: the key and the model are the proof's own. */
export async function proveClaudeGuard(
  settings: AgentSettings,
  place: AgentPlace,
  dir: string,
): Promise<Unproven | null> {
  const proof = hookProof("claude", { settings, place, dir });
  if (proof === null) return null;
  return proveGuard({
    ...proof,
    start: async (url, { turn, config }) => {
      await prepareClaude(place, turn);
      const { argv, env } = callClaude(proof.settings, place, turn);
      const own = { CLAUDE_CONFIG_DIR: config, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "proof" };
      return { argv, env: { ...env, ...own } };
    },
    replies: (request, { writeProbe }) => messagesReply(request, { command: writeProbe, tool: "Bash" }),
  });
}
