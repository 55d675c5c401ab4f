#!/usr/bin/env node
/**
 * Speaks ACP as a program would and does what the prompt says: one word a line. `--old`: knows no sessions but new ones.
 * Sessions are files below ACP_SESSIONS; everything it received is in `received.jsonl` there.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.env.ACP_SESSIONS;
const isOld = process.argv.includes("--old");
const waiting = new Map();
let asked = 0;
let cancelled = () => undefined;

const send = (message) => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, fields) => send({ method: "session/update", params: { sessionId, update: fields } });
const say = (sessionId, text) =>
  update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const ask = (method, params) =>
  new Promise((resolve) => {
    waiting.set(`c${++asked}`, resolve);
    send({ id: `c${asked}`, method, params });
  });
const fail = (code, message, data) => {
  throw Object.assign(new Error(message), { code, data });
};

const methods = {
  initialize: () => {
    if (process.argv.includes("--mute")) return new Promise(() => undefined);
    return {
      protocolVersion: process.argv.includes("--future") ? 2 : 1,
      agentInfo: { name: "acp-agent", version: "1.0" },
      agentCapabilities: { loadSession: !isOld },
      authMethods: [{ id: "some-api-key", name: "Key" }],
    };
  },
  authenticate: () => ({}),
  "session/new": () => {
    if (process.argv.includes("--login")) fail(-32000, "Authentication required");
    writeFileSync(join(folder, "s-1"), "");
    return { sessionId: "s-1", modes: { currentModeId: "yolo", availableModes: [{ id: "yolo" }, { id: "default" }] } };
  },
  "session/load": ({ sessionId }) => {
    if (!existsSync(join(folder, sessionId))) fail(-32002, `Resource not found: ${sessionId}`);
    for (const line of readFileSync(join(folder, sessionId), "utf8").split("\n")) say(sessionId, `earlier ${line}`);
    return {};
  },
  "session/set_mode": () => ({}),
  "session/cancel": () => cancelled(),
  "session/prompt": async ({ sessionId, prompt }) => {
    appendFileSync(join(folder, sessionId), `${prompt[0].text.length} `);
    for (const line of prompt[0].text.split("\n")) {
      const [word, ...rest] = line.split(" ");
      const end = await words[word]?.(sessionId, rest.join(" "));
      if (end) return end;
    }
    const usage = { inputTokens: 100, outputTokens: 10, cachedReadTokens: 1000, totalTokens: 1110 };
    return { stopReason: "end_turn", usage };
  },
};

const words = {
  say: (id, text) => say(id, text),
  noise: () => void process.stdout.write('Welcome!\n{"broken\n\n[1]\n{"jsonrpc":"2.0","id":99,"result":{}}\n'),
  huge: (id, size) => say(id, "x".repeat(Number(size))),
  complain: (_, text) => void process.stderr.write(`${text}\n`),
  die: (_, code) => process.exit(Number(code)),
  error: (_, text) => fail(-32603, text),
  stop: (_, reason) => ({ stopReason: reason }),
  cost: (id, amount) =>
    update(id, { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: Number(amount), currency: "USD" } }),
  run: async (sessionId, command) => {
    const options = [
      { optionId: "yes", kind: "allow_once" },
      { optionId: "no", kind: "reject_once" },
    ];
    const toolCall = { toolCallId: `t${asked}`, kind: "execute", title: command, rawInput: { command } };
    const { result } = await ask("session/request_permission", { sessionId, toolCall, options });
    say(sessionId, `${command}: ${result.outcome.optionId}`);
  },
  write: async (sessionId, path) => {
    const { error } = await ask("fs/write_text_file", { sessionId, path, content: "written\n" });
    say(sessionId, error ? "not written" : "written");
  },
  hang: () =>
    new Promise((resolve) => {
      cancelled = () => resolve({ stopReason: "cancelled" });
    }),
};

for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(join(folder, "received.jsonl"), `${line}\n`);
  const message = JSON.parse(line);
  if (message.method === undefined) waiting.get(message.id)?.(message);
  else void answer(message);
}

async function answer({ id, method, params }) {
  try {
    const result = await (methods[method] ?? (() => fail(-32601, `no ${method}`)))(params);
    if (id !== undefined) send({ id, result });
  } catch ({ code = -32603, message, data }) {
    send({ id, error: { code, message, data } });
  }
}
