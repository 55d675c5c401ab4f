import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { messageOf } from "../../lib/errors.js";
import { parseJson } from "../../lib/parse-json.js";
import { runToEnd } from "../../lib/run-to-end.js";
import { isPassing, readReply } from "./reply.js";

/**
 * The smallest agent there is, a model without tools: the prompt on stdin goes to `$OPENAI_BASE_URL/responses`, what
 * comes back goes to stdout. Used as `agent: {type: command}`; what may pass ends with 75, so that it is tried again.
 */
const transient = 75;
const patienceMs = 10 * 60_000;

async function main(): Promise<number> {
  const { env } = process;
  const base = (env.OPENAI_BASE_URL || "https://api.openai.com/v1").replace(/\/+$/, "");
  const effort = env.RATCHET_EFFORT ? { reasoning: { effort: env.RATCHET_EFFORT } } : {};
  const model = env.RATCHET_MODEL || env.OPENAI_MODEL || "gpt-5";
  const prompt = await text(process.stdin);
  let response: Response;
  let body: string;
  try {
    response = await fetch(`${base}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${env.OPENAI_API_KEY ?? ""}` },
      body: JSON.stringify({ model, input: prompt, ...effort }),
      signal: AbortSignal.timeout(patienceMs),
    });
    body = await response.text();
  } catch (error) {
    return tell(transient, `${base} cannot be reached: ${reasonOf(error)}`);
  }
  if (!response.ok) {
    const code = isPassing(response.status) ? transient : 1;
    return tell(code, `${base} answered ${response.status}: ${body.slice(0, 500)}`);
  }
  const reply = readReply(parseJson(body));
  if (reply === null) return tell(transient, `${base} sent something that is no answer: ${body.slice(0, 500)}`);
  if (env.RATCHET_RESULT_FILE && reply.usage !== null)
    writeFileSync(env.RATCHET_RESULT_FILE, JSON.stringify({ usage: reply.usage }));
  process.stdout.write(reply.text);
  return 0;
}

/** fetch hides what happened in the cause. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? messageOf(error.cause) : messageOf(error);
}

function tell(code: number, message: string): number {
  process.stderr.write(`${message}\n`);
  return code;
}

runToEnd(async () => {
  process.exitCode = await main();
});
