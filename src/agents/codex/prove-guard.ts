import { join } from "node:path";
import type { AgentSettings } from "../../core/settings.js";
import { proveGuard, type Unproven } from "../../hook/self-test.js";
import type { ModelReply, ModelRequest } from "../../hook/self-test-model.js";
import { writeDurably } from "../../lib/files.js";
import { hookProof, toEventStream } from "../guard-proof.js";
import { parseFields } from "../json.js";
import type { AgentPlace } from "../place.js";
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
      await writeDurably(join(config, "config.toml"), configOf(url));
      const { argv, env } = callCodex(proof.settings, place, turn);
      return { argv, env: { ...env, CODEX_HOME: config, RATCHET_PROOF_KEY: "proof" } };
    },
    replies: (request, { writeProbe }) => reply(request, writeProbe),
  });
}

/** A model that codex does not know gets the plain tools. */
function configOf(url: string): string {
  return `model = "proof"
model_provider = "proof"

[model_providers.proof]
name = "proof"
base_url = "${url}/v1"
env_key = "RATCHET_PROOF_KEY"
wire_api = "responses"
`;
}

function reply({ method, path, body }: ModelRequest, command: string): ModelReply | null {
  const isQuestion = method === "POST" && /^\/v1\/responses(\?|$)/.test(path);
  if (!isQuestion || parseFields(body) === null) return null;
  const isFirst = !body.includes('"function_call_output"');
  return toEventStream(response(isFirst ? callOf(command, body) : ending));
}

const ending = {
  type: "message",
  id: "msg_proof",
  role: "assistant",
  content: [{ type: "output_text", text: "Done.", annotations: [] }],
};

/** The shell by the name that this version has for it. */
function callOf(command: string, body: string): object {
  const call = { type: "function_call", id: "fc_proof", call_id: "call_proof" };
  if (body.includes('"exec_command"'))
    return { ...call, name: "exec_command", arguments: JSON.stringify({ cmd: command }) };
  if (body.includes('"shell_command"'))
    return { ...call, name: "shell_command", arguments: JSON.stringify({ command }) };
  return { ...call, name: "shell", arguments: JSON.stringify({ command: ["sh", "-c", command] }) };
}

function response(item: object): { readonly type: string }[] {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const whole = { id: "resp_proof", object: "response", status: "completed", output: [item], usage };
  return [
    { type: "response.created", ...{ response: { ...whole, status: "in_progress", output: [], usage: null } } },
    { type: "response.output_item.done", ...{ output_index: 0, item: { ...item, status: "completed" } } },
    { type: "response.completed", ...{ response: whole } },
  ];
}
