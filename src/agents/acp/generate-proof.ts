import type { ModelReply, ModelRequest } from "../../hook/self-test-model.js";
import { parseFields, toList } from "../json.js";

/** The model of a proof, for programs that speak Google's Gemini API: it wants one command by Gemini's shell, then ends. */
export function generateReply({ method, path, body }: ModelRequest, command: string): ModelReply | null {
  const isQuestion = method === "POST" && /:(stream)?generateContent(\?|$)/i.test(path);
  const asked = isQuestion ? parseFields(body) : null;
  if (asked === null) return null;
  const isFirst = toList(asked.tools).length > 0 && !body.includes('"functionResponse"');
  const call = { functionCall: { id: "proof", name: "run_shell_command", args: { command } } };
  const content = { role: "model", parts: [isFirst ? call : { text: "Done." }] };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const whole = JSON.stringify({ candidates: [{ content, finishReason: "STOP", index: 0 }], usageMetadata });
  if (!path.includes(":stream")) return { headers: { "content-type": "application/json" }, chunks: [whole] };
  return { headers: { "content-type": "text/event-stream" }, chunks: [`data: ${whole}\n\n`] };
}
