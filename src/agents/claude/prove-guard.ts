import { type GuardProof, proveGuard, type Unproven } from "../../hook/self-test.js";
import { hookProof, type Tried } from "../guard-proof.js";
import { messagesReply } from "../messages-proof.js";
import { callClaude, prepareClaude } from "./call.js";

/** claude as a turn starts it, with nothing of the user's: the key and the model are the proof's own. */
export async function proveClaudeGuard(tried: Tried): Promise<Unproven | null> {
  const { place, asker } = tried;
  const proof = hookProof("claude", tried);
  if (proof === null) return null;
  const call: GuardProof = {
    ...proof,
    start: async (url, { turn, config }) => {
      await prepareClaude(place, turn);
      const { argv, env } = callClaude(proof.settings, place, turn);
      const own = { CLAUDE_CONFIG_DIR: config, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "proof" };
      return { argv, env: { ...env, ...own } };
    },
    replies: (request, { writeProbe }) => messagesReply(request, { command: writeProbe, tool: "Bash" }),
  };
  return proveGuard(call, asker);
}
