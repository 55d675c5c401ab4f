import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Usage } from "../../core/issue/events.js";
import { type Fields, parseFields, toAmount, toFields, toList, toText } from "../json.js";
import { costOf } from "../prices.js";
import type { BridgeOptions } from "./options.js";
import { sumOf } from "./spending.js";

const longestExport = 256 * 1024 * 1024;

/**
 * OpenCode tells the tokens of its last answer and the cost of the whole session. Its `export` has both for each of its
 * answers. null: it could not be asked, and what it told has to do.
 */
export async function countOpenCode(
  session: string,
  since: number,
  { options, env, timeoutMs }: { options: BridgeOptions; env: NodeJS.ProcessEnv; timeoutMs: number },
): Promise<Usage | null> {
  const { command, cwd } = options;
  const at = command.lastIndexOf("acp");
  const [program, ...before] = command;
  if (at < 1) return null;
  try {
    const args = [...before.slice(0, at - 1), "export", session];
    const { stdout } = await promisify(execFile)(program, args, {
      ...{ cwd, env, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: longestExport },
    });
    const exported = parseFields(stdout);
    return exported === null ? null : usageSince(exported, since, options.prices);
  } catch {
    // No export, or not in time: the turn is as good without it.
    return null;
  }
}

/** `since`: milliseconds; answers begin after the prompt. null: there is none. */
export function usageSince(exported: Fields, since: number, prices: BridgeOptions["prices"]): Usage | null {
  const answers = toList(exported.messages)
    .map((one) => toFields(toFields(one).info))
    .filter(({ role, time }) => role === "assistant" && toAmount(toFields(time).created) >= since);
  const usages = answers.map((answer) => usageOf(answer, prices));
  // An answer is counted once its tools have run; until then, and when it failed, it has no tokens and no price.
  const counted = usages.filter((one) => one.input_tokens + one.output_tokens > 0);
  return counted.length === 0 ? null : sumOf(counted);
}

function usageOf(answer: Fields, prices: BridgeOptions["prices"]): Usage {
  const { input, output, reasoning, cache } = toFields(answer.tokens);
  const [cached, cacheWrite] = [toAmount(toFields(cache).read), toAmount(toFields(cache).write)];
  const tokens = { input: toAmount(input) + cached + cacheWrite, output: toAmount(output) + toAmount(reasoning) };
  // Without a price of its own it says 0.
  const cost = toAmount(answer.cost) || costOf(toText(answer.modelID), { ...tokens, cached, cacheWrite }, prices);
  return { input_tokens: tokens.input, output_tokens: tokens.output, cost_usd: cost };
}
