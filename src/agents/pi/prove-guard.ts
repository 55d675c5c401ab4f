import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GuardProof, proveGuard, type Unproven } from "../../hook/self-test.js";
import { writeGuardFile } from "../guard-file.js";
import { hookProof, type Tried } from "../guard-proof.js";
import { messagesReply } from "../messages-proof.js";
import { callPi } from "./call.js";

/** pi as a turn starts it, in a folder of its own with one model: the proof's. */
export async function provePiGuard(tried: Tried): Promise<Unproven | null> {
  const { place, asker } = tried;
  const proof = hookProof("pi", tried);
  if (proof === null) return null;
  const call: GuardProof = {
    ...proof,
    start: async (url, { turn, config }) => {
      await writeGuardFile(turn);
      writeFileSync(join(config, "models.json"), JSON.stringify(modelsAt(url)));
      const { argv, env } = callPi(proof.settings, place, { ...turn, model: "local/proof" });
      return { argv, env: { ...env, PI_CODING_AGENT_DIR: config } };
    },
    replies: (request, { writeProbe }) => messagesReply(request, { command: writeProbe, tool: "bash" }),
  };
  return proveGuard(call, asker);
}

function modelsAt(url: string): object {
  const one = {
    id: "proof",
    name: "proof",
    reasoning: false,
    input: ["text"],
    contextWindow: 100_000,
    maxTokens: 1000,
  };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const provider = { baseUrl: url, apiKey: "none", api: "anthropic-messages" };
  return { providers: { local: { ...provider, models: [{ ...one, cost }] } } };
}
