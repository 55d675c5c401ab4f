import { join } from "node:path";
import type { AgentSettings } from "../../core/settings.js";
import { proveGuard, type Unproven } from "../../hook/self-test.js";
import { writeDurably } from "../../lib/files.js";
import { hookProof } from "../guard-proof.js";
import type { AgentPlace } from "../place.js";
import { proofKeyName, responsesConfig, responsesReply } from "../responses-proof.js";
import { callCodex, prepareCodex } from "./call.js";

/** codex as a turn starts it, with a home of its own in which the model is the proof's. */
export async function proveCodexGuard(
  settings: AgentSettings,
  place: AgentPlace,
  dir: string,
): Promise<Unproven | null> {
  const proof = hookProof("codex", { settings, place, dir });
  if (proof === null) return null;
  return proveGuard({
    ...proof,
    start: async (url, { turn, config }) => {
      await prepareCodex(place, turn);
      await writeDurably(join(config, "config.toml"), responsesConfig(url));
      const { argv, env } = callCodex(proof.settings, place, turn);
      return { argv, env: { ...env, CODEX_HOME: config, [proofKeyName]: "proof" } };
    },
    replies: (request, { writeProbe }) => responsesReply(request, writeProbe),
  });
}
