import { once } from "node:events";
import { createWriteStream } from "node:fs";

/**
 * `bench-agents-write <kind> <file> <megabytes>`: writes a transcript such as that program would, of lines between 1 and 50
 * kB, with the turn's whole story: texts, tool calls, their results (some failed), usage, and the word that it has ended.
 */
const [kind = "", file = "", megabytes = "0"] = process.argv.slice(2);

type Lines = (round: number, text: string) => readonly object[];
interface Stream {
  readonly first: object;
  readonly round: Lines;
  readonly last: (rounds: readonly (readonly object[])[]) => object;
}

const answer = (round: number, text: string) => `Round ${round}: I read it.\n${text.slice(0, 1000)}`;
const isFailed = (round: number) => round % 7 === 0;

const streams: Readonly<Record<string, Stream>> = {
  claude: {
    first: { type: "system", subtype: "init", session_id: "s-1", tools: ["Bash"], model: "claude-sonnet-4-5" },
    round: (round, text) => [
      claudeMessage(round, { type: "text", text: answer(round, text) }),
      claudeMessage(round, { type: "tool_use", id: `t-${round}`, name: "Bash", input: { command: `cat ${round}` } }),
      {
        type: "user",
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `t-${round}`, content: text, is_error: isFailed(round) }],
        },
        parent_tool_use_id: null,
        session_id: "s-1",
        tool_use_result: { stdout: text, stderr: "", interrupted: false },
      },
    ],
    last: () => ({
      ...{ type: "result", subtype: "success", is_error: false, result: "Done.", session_id: "s-1", total_cost_usd: 1 },
      modelUsage: { "claude-sonnet-4-5": { inputTokens: 1, outputTokens: 1 } },
    }),
  },
  codex: {
    first: { type: "thread.started", thread_id: "s-1" },
    round: (round, text) => [
      { type: "item.completed", item: { id: `m-${round}`, type: "agent_message", text: answer(round, text) } },
      {
        type: "item.started",
        item: { ...codexItem(round), aggregated_output: "", exit_code: null, status: "in_progress" },
      },
      {
        type: "item.completed",
        item: {
          ...codexItem(round),
          aggregated_output: text,
          exit_code: 0,
          status: isFailed(round) ? "failed" : "completed",
        },
      },
    ],
    last: () => ({ type: "turn.completed", usage: { input_tokens: 9, cached_input_tokens: 1, output_tokens: 3 } }),
  },
  pi: {
    first: { type: "session", version: 3, id: "s-1", cwd: "/sandbox" },
    round: (round, text) => {
      const message = piMessage(round, answer(round, text));
      const result = { content: [{ type: "text", text }] };
      const tool = { toolCallId: `t-${round}`, toolName: "bash" };
      return [
        {
          type: "message_update",
          assistantMessageEvent: { type: "text_delta", delta: "x", partial: message },
          message,
        },
        { type: "message_end", message },
        { type: "tool_execution_start", ...tool, args: { command: `cat ${round}` } },
        { type: "tool_execution_update", ...tool, args: { command: `cat ${round}` }, partialResult: result },
        { type: "tool_execution_end", ...tool, result, isError: isFailed(round) },
        { type: "message_end", message: { role: "toolResult", ...tool, ...result, isError: isFailed(round) } },
        { type: "turn_end", message, toolResults: [{ role: "toolResult", ...tool, ...result }] },
      ];
    },
    // All messages of the turn once more, in one line.
    last: (rounds) => ({
      type: "agent_end",
      messages: rounds.flatMap((lines) =>
        lines.flatMap((line) => ("message" in line && !("assistantMessageEvent" in line) ? [line.message] : [])),
      ),
    }),
  },
  acp: {
    first: { type: "session", id: "s-1" },
    round: (round, text) => [
      { type: "text", text: answer(round, text) },
      { type: "tool-call", id: `t-${round}`, name: "Bash", input: { command: `cat ${round}` } },
      { type: "tool-result", id: `t-${round}`, text, failed: isFailed(round) },
      { type: "usage", usage: { input_tokens: round, output_tokens: round, cost_usd: null } },
    ],
    last: () => ({ type: "finished", outcome: { type: "ended" } }),
  },
};

function claudeMessage(round: number, block: object) {
  const usage = { input_tokens: 100, cache_creation_input_tokens: 50, cache_read_input_tokens: 1000, output_tokens: 1 };
  const message = {
    id: `m-${round}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [block],
    usage,
  };
  return { type: "assistant", message, parent_tool_use_id: null, session_id: "s-1" };
}

function codexItem(round: number) {
  return { id: `i-${round}`, type: "command_execution", command: `/bin/bash -lc 'cat ${round}'` };
}

function piMessage(round: number, text: string) {
  const usage = { input: 100, output: 10, cacheRead: 1000, cacheWrite: 50, totalTokens: 1160, cost: { total: 0.001 } };
  const content = [
    { type: "text", text },
    { type: "toolCall", id: `t-${round}`, name: "bash", arguments: { command: `cat ${round}` } },
  ];
  return { role: "assistant", content, model: "test-model", usage, stopReason: "stop", timestamp: 1_794_792_543_142 };
}

/** Source code, more or less, between 1 and 25 kB; some of it beyond Latin-1, as arrows and quotes are. */
function textOf(round: number): string {
  const line = `${round % 3 === 0 ? "→ " : ""}  const value${round} = readSomething("${round}", { of: 'this' }); // and so on\n`;
  return line.repeat(1 + Math.floor((1000 + ((round * 7919) % 24_000)) / line.length));
}

const stream = streams[kind];
if (!stream) throw new Error(`unknown: ${kind}; known: ${Object.keys(streams).join(", ")}`);
const out = createWriteStream(file);
const rounds: (readonly object[])[] = [];
let [written, inLast] = [0, 0];
const write = async (line: object): Promise<number> => {
  const text = Buffer.from(`${JSON.stringify(line)}\n`);
  written += text.length;
  if (!out.write(text)) await once(out, "drain");
  return text.length;
};
await write(stream.first);
while (written + inLast < Number(megabytes) * 1024 * 1024) {
  const lines = stream.round(rounds.length, textOf(rounds.length));
  for (const line of lines) await write(line);
  rounds.push(kind === "pi" ? lines : []);
  if (kind === "pi") inLast = Math.floor(written / 4);
}
await write(stream.last(rounds));
out.end();
await once(out, "close");
