import type { ModelReply, ModelRequest } from "../hook/self-test-model.js";
import { toEventStream } from "./guard-proof.js";
import { parseFields } from "./json.js";

/** What codex keeps the key of the proof's model in. */
export const proofKeyName = "RATCHET_PROOF_KEY";

/** For its config.toml. A model that codex does not know gets the plain tools. */
export function responsesConfig(url: string): string {
  return `model = "proof"
model_provider = "proof"

[model_providers.proof]
name = "proof"
base_url = "${url}/v1"
env_key = "${proofKeyName}"
wire_api = "responses"
`;
}

/** The model of a proof, for programs that speak OpenAI's Responses: it wants one command, then ends. */
export function responsesReply({ method, path, body }: ModelRequest, command: string): ModelReply | null {
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
