import type { AgentSettings } from "../../core/settings.js";
import { proveGuard, type Unproven } from "../../hook/self-test.js";
import type { ModelReply, ModelRequest } from "../../hook/self-test-model.js";
import { hookProof, toEventStream } from "../guard-proof.js";
import { parseFields, toList } from "../json.js";
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
    replies: (request, { writeProbe }) => reply(request, writeProbe),
  });
}

function reply({ method, path, body }: ModelRequest, command: string): ModelReply | null {
  const isQuestion = method === "POST" && /^\/v1\/messages(\?|$)/.test(path);
  const asked = isQuestion ? parseFields(body) : null;
  if (asked === null) return null;
  // What has no tools is an errand of the program's own; what has a tool's result is the second question.
  const isFirst = toList(asked.tools).length > 0 && !body.includes('"tool_result"');
  return toEventStream(isFirst ? message(callOf(command)) : message(ending));
}

interface Said {
  readonly block: object;
  readonly delta: object;
  readonly reason: string;
}

const ending: Said = {
  block: { type: "text", text: "" },
  delta: { type: "text_delta", text: "Done." },
  reason: "end_turn",
};

function callOf(command: string): Said {
  const delta = { type: "input_json_delta", partial_json: JSON.stringify({ command }) };
  return { block: { type: "tool_use", id: "toolu_proof", name: "Bash", input: {} }, delta, reason: "tool_use" };
}

function message({ block, delta, reason }: Said): { readonly type: string }[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const begun = { id: "msg_proof", type: "message", role: "assistant", model: "proof", content: [], usage };
  return [
    { type: "message_start", ...{ message: { ...begun, stop_reason: null, stop_sequence: null } } },
    { type: "content_block_start", ...{ index: 0, content_block: block } },
    { type: "content_block_delta", ...{ index: 0, delta } },
    { type: "content_block_stop", ...{ index: 0 } },
    { type: "message_delta", ...{ delta: { stop_reason: reason, stop_sequence: null }, usage } },
    { type: "message_stop" },
  ];
}
