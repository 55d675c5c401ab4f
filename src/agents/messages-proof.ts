import type { ModelReply, ModelRequest } from "../hook/self-test-model.js";
import { toEventStream } from "./guard-proof.js";
import { parseFields, toList } from "./json.js";

/**
 * The model of a proof, for programs that speak Anthropic's Messages: it wants one command by the program's own tool,
 * then ends. `tool`: what the program calls its shell; the rest is what it is called with.
 */
export function messagesReply(
  { method, path, body }: ModelRequest,
  { tool, ...input }: { readonly tool: string; readonly command: string; readonly description?: string },
): ModelReply | null {
  const isQuestion = method === "POST" && /^\/v1\/messages(\?|$)/.test(path);
  const asked = isQuestion ? parseFields(body) : null;
  if (asked === null) return null;
  // What has no tools is an errand of the program's own; what has a tool's result is the second question.
  const isFirst = toList(asked.tools).length > 0 && !body.includes('"tool_result"');
  return toEventStream(isFirst ? message(callOf(tool, input)) : message(ending));
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

function callOf(tool: string, input: object): Said {
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
  return { block: { type: "tool_use", id: "toolu_proof", name: tool, input: {} }, delta, reason: "tool_use" };
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
