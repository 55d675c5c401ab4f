import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Usage } from "../../core/issue/events.js";
import type { TurnFiles } from "../../core/ports/agent.js";
import { longestStreamLine } from "../../core/ports/agent-event.js";
import type { TokenPrice } from "../../core/settings.js";
import { codeOf } from "../../lib/errors.js";
import { exists, writeDurably } from "../../lib/files.js";
import { readLines } from "../../lib/follow-file.js";
import { type Fields, parseFields, toFields, toText } from "../json.js";
import { costOf } from "../prices.js";
import { type ThreadTokens, toTokens } from "./stream.js";

/**
 * codex counts tokens for a whole thread, over all of its turns, and names no price. So what a turn used is the thread's
 * count after it less the count before it, which is looked up in codex's own record of the thread before the turn
 * starts and kept in the attempt's folder: nobody can tell it later.
 */
export interface ThreadRecord {
  readonly tokens: ThreadTokens;
  readonly model: string | null;
}

interface Base {
  /** null: the record of the thread was not found, so that nothing can be said of a turn of it. */
  readonly tokens: ThreadTokens | null;
  readonly model: string | null;
}

const nothing: ThreadTokens = { input: 0, cached: 0, output: 0 };

export function codexHome(env: NodeJS.ProcessEnv): string {
  return env.CODEX_HOME || join(env.HOME || homedir(), ".codex");
}

/** First write wins: once the turn runs, the record counts it too. */
export async function writeBase(
  { folder }: TurnFiles,
  { thread, model, home }: { readonly thread: string | null; readonly model: string | null; readonly home: string },
): Promise<void> {
  if (await exists(basePath(folder))) return;
  const record = thread === null ? null : await readThread(home, thread);
  const tokens = thread === null ? nothing : (record?.tokens ?? null);
  await writeDurably(basePath(folder), `${JSON.stringify({ tokens, model: model ?? record?.model ?? null })}\n`);
}

export function readBase({ folder }: TurnFiles): Base {
  const base = parseFields(readText(basePath(folder)));
  const told = base?.tokens;
  const tokens = typeof told === "object" && told !== null ? toBaseTokens(toFields(told)) : null;
  return { tokens, model: toText(base?.model) || null };
}

/** What a turn used that left the thread with `tokens`. */
export function usageSince(
  base: Base,
  tokens: ThreadTokens,
  prices: Readonly<Record<string, TokenPrice>>,
): Usage | null {
  if (base.tokens === null) return null;
  const used = {
    input: Math.max(0, tokens.input - base.tokens.input),
    cached: Math.max(0, tokens.cached - base.tokens.cached),
    output: Math.max(0, tokens.output - base.tokens.output),
  };
  const cost = base.model === null ? null : costOf(base.model, used, prices);
  return { input_tokens: used.input, output_tokens: used.output, cost_usd: cost };
}

/** What codex has written down of a thread; null: it has nothing on it. */
export async function readThread(home: string, thread: string): Promise<ThreadRecord | null> {
  const file = await findRecord(join(home, "sessions"), thread);
  if (file === null) return null;
  let record: ThreadRecord = { tokens: nothing, model: null };
  for await (const line of readLines(file, { longest: longestStreamLine })) {
    if (!line.includes('"token_count"') && !line.includes('"turn_context"')) continue;
    record = addLine(record, parseFields(line) ?? {});
  }
  return record;
}

function addLine(record: ThreadRecord, line: Fields): ThreadRecord {
  const payload = toFields(line.payload);
  if (line.type === "turn_context") return { ...record, model: toText(payload.model) || record.model };
  const total = toFields(payload.info).total_token_usage;
  const isCount = line.type === "event_msg" && payload.type === "token_count" && total !== undefined && total !== null;
  return isCount ? { ...record, tokens: largest(record.tokens, toTokens(toFields(total))) } : record;
}

/** A thread's counts only grow; a full context is written down as a count of nothing. */
function largest(one: ThreadTokens, other: ThreadTokens): ThreadTokens {
  return {
    input: Math.max(one.input, other.input),
    cached: Math.max(one.cached, other.cached),
    output: Math.max(one.output, other.output),
  };
}

async function findRecord(sessions: string, thread: string): Promise<string | null> {
  try {
    const names = await readdir(sessions, { recursive: true });
    const found = names.find((name) => name.endsWith(`-${thread}.jsonl`));
    return found === undefined ? null : join(sessions, found);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

function basePath(folder: string): string {
  return join(folder, "codex-base.json");
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}

function toBaseTokens({ input, cached, output }: Fields): ThreadTokens {
  const amount = (value: unknown) => (typeof value === "number" ? value : 0);
  return { input: amount(input), cached: amount(cached), output: amount(output) };
}
