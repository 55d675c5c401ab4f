import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { messageOf } from "../../lib/errors.js";
import { parseJson } from "../../lib/parse-json.js";
import { runToEnd } from "../../lib/run-to-end.js";
import { type Answer, type Limits, post } from "./post.js";
import { isPassing, readReply } from "./reply.js";

/**
 * The smallest agent there is, a model without tools: the prompt on stdin goes to `$OPENAI_BASE_URL/responses`, what
 * comes back goes to stdout. Used as `agent: {type: command}`; what may pass ends with 75, so that it is tried again.
 */
const transient = 75;

async function main(): Promise<number> {
  const { env } = process;
  const base = (env.OPENAI_BASE_URL || "https://api.openai.com/v1").replace(/\/+$/, "");
  const url = `${base}/responses`;
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return tell(1, `OPENAI_BASE_URL is no http address: ${base}`);
  const effort = env.RATCHET_EFFORT ? { reasoning: { effort: env.RATCHET_EFFORT } } : {};
  const model = env.RATCHET_MODEL || env.OPENAI_MODEL || "gpt-5";
  const prompt = await text(process.stdin);
  let answer: Answer;
  try {
    answer = await post({
      url,
      headers: { "content-type": "application/json", authorization: `Bearer ${env.OPENAI_API_KEY ?? ""}` },
      body: JSON.stringify({ model, input: prompt, ...effort }),
      limits: limitsOf(env),
    });
  } catch (error) {
    return tell(transient, `${base} cannot be reached: ${reasonOf(error)}`);
  }
  return take(answer, base, env.RATCHET_RESULT_FILE);
}

function take({ status, body, refused }: Answer, base: string, resultFile: string | undefined): number {
  if (refused !== null) return tell(1, `${base} answered with a redirect (${status}) that is not followed: ${refused}`);
  if (status < 200 || status > 299) {
    return tell(isPassing(status) ? transient : 1, `${base} answered ${status}: ${body.slice(0, 500)}`);
  }
  const reply = readReply(parseJson(body));
  if (reply === null) return tell(transient, `${base} sent something that is no answer: ${body.slice(0, 500)}`);
  if (resultFile && reply.usage !== null) writeFileSync(resultFile, JSON.stringify({ usage: reply.usage }));
  const { failure } = reply;
  if (failure !== null)
    return tell(failure.isPassing ? transient : 1, `${base} gave no whole answer: ${failure.words}`);
  process.stdout.write(reply.text);
  return 0;
}

/** Seconds; a day at most, and what is no number of them is as if it were not set. */
function limitsOf(env: NodeJS.ProcessEnv): Limits {
  const ms = (value: string | undefined, usual: number) => {
    const seconds = Number(value);
    return (value && seconds > 0 && seconds <= 86_400 ? seconds : usual) * 1000;
  };
  return {
    firstByteMs: ms(env.RATCHET_FIRST_BYTE_SECONDS, 120),
    silenceMs: ms(env.RATCHET_SILENCE_SECONDS, 300),
  };
}

/** Where a name has several addresses, the message is empty and each has an error of its own. */
function reasonOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : messageOf(error);
}

function tell(code: number, message: string): number {
  process.stderr.write(`${message}\n`);
  return code;
}

runToEnd(async () => {
  process.exitCode = await main();
});
