import { join } from "node:path";
import { type GuardProof, proveGuard, type Unproven } from "../../hook/self-test.js";
import { writeDurably } from "../../lib/files.js";
import { hookProof, type Tried } from "../guard-proof.js";
import { proofKeyName, responsesConfig, responsesReply } from "../responses-proof.js";
import { callCodex, prepareCodex } from "./call.js";

/** codex as a turn starts it, with a home of its own in which the model is the proof's. */
export async function proveCodexGuard(tried: Tried): Promise<Unproven | null> {
  const { place, asker } = tried;
  const proof = hookProof("codex", tried);
  if (proof === null) return null;
  const call: GuardProof = {
    ...proof,
    start: async (url, { turn, config }) => {
      await prepareCodex(place, turn);
      await writeDurably(join(config, "config.toml"), responsesConfig(url));
      const { argv, env } = callCodex(proof.settings, place, turn);
      return { argv, env: { ...env, CODEX_HOME: config, [proofKeyName]: "proof" } };
    },
    replies: (request, { writeProbe }) => responsesReply(request, writeProbe),
  };
  return proveGuard(call, asker);
}
