import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Fault, Script } from "./script.js";
import { startModelServer } from "./server.js";

const tools = [{ name: "Bash", input_schema: { properties: { command: {} } } }];
const functions = [{ type: "function", name: "exec_command", parameters: { properties: { cmd: {} } } }];
const usual: Script = [
  { when: { text: /implement/, toolResults: 0 }, say: [{ shell: "make" }] },
  { when: { text: /implement/, toolResults: 1 }, say: [{ text: "done" }], usage: { output: 7 } },
  { when: { text: /review/ }, say: [{ text: "fine" }] },
];

describe("the model server", () => {
  it("answers from the request alone: the last prompt and the tool results since then", async () => {
    const ask = await server(usual);
    const first = { role: "user", content: "implement it" };
    const call = { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Bash", input: {} }] };
    const reminder = { type: "text", text: "<system-reminder>be kind</system-reminder>" };
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }, reminder] };
    const say = async (...messages: object[]) => (await ask("/v1/messages", { messages, tools })).json();
    const makes = { type: "tool_use", name: "Bash", input: { command: "make" } };
    expect(await say(first)).toMatchObject({ content: [makes], stop_reason: "tool_use" });
    const done = await say(first, call, result);
    const usage = { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 1000 };
    expect(done).toMatchObject({ content: [{ text: "done" }], stop_reason: "end_turn", usage });
    const later = await say(first, call, result, { role: "user", content: "review it" });
    expect(later).toMatchObject({ content: [{ type: "text", text: "fine" }] });
    const errand = await (await ask("/v1/messages", { messages: [first] })).json();
    expect(errand).toMatchObject({ content: [{ type: "text", text: "ok" }] });
  });

  it("speaks Google's API too: the model is in the address, a part is an event, usage comes last", async () => {
    const ask = await server(usual);
    const declared = [{ functionDeclarations: [{ name: "run_shell_command", parametersJsonSchema: {} }] }];
    const first = { role: "user", parts: [{ text: "implement it" }] };
    const answered = { functionResponse: { name: "run_shell_command", response: { output: "ok" } } };
    const say = async (method: string, ...contents: object[]) =>
      (await ask(`/v1beta/models/gemini-test:${method}`, { contents, tools: declared })).text();
    const streamed = await say("streamGenerateContent", first);
    expect(streamed).toMatch(/^data: \{.*"name":"run_shell_command","args":\{"command":"make"\}.*\}\n\n$/);
    const done = JSON.parse(await say("generateContent", first, { role: "user", parts: [answered] }));
    expect(done).toMatchObject({
      candidates: [{ content: { parts: [{ text: "done" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1150, cachedContentTokenCount: 1000, candidatesTokenCount: 7 },
    });
  });

  it("streams responses with the tool that the program offers", async () => {
    const ask = await server(usual);
    const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: "implement it" }] }];
    const called = events(await (await ask("/v1/responses", { input, tools: functions, stream: true })).text());
    const item = called.find(({ type }) => type === "response.output_item.done")?.item;
    expect(item).toMatchObject({ type: "function_call", name: "exec_command", arguments: '{"cmd":"make"}' });
    const output = { type: "function_call_output", call_id: item.call_id, output: "ok" };
    const done = await ask("/v1/responses", { input: [...input, item, output], tools: functions, stream: true });
    const last = events(await done.text()).at(-1);
    expect(last).toMatchObject({ type: "response.completed", response: { usage: { output_tokens: 7 } } });
  });

  it.each<[string, Fault, number, number]>([
    ["a rate limit", { kind: "rate-limit", retryAfterSeconds: 3 }, 429, 429],
    ["overload", { kind: "overloaded" }, 529, 503],
    ["an error of its own", { kind: "server-error" }, 500, 500],
    ["a context that is full", { kind: "context-overflow" }, 400, 400],
  ])("fails with %s in each API's way, as often as it is told to", async (_, fault, messages, responses) => {
    const ask = await server([
      { when: {}, times: 2, fault },
      { when: {}, say: [{ text: "again" }] },
    ]);
    const prompt = { role: "user", content: "implement it" };
    const one = await ask("/v1/messages", { messages: [prompt], tools });
    const two = await ask("/v1/responses", { input: [prompt], tools: functions });
    expect([one.status, two.status]).toEqual([messages, responses]);
    expect(one.headers.get("retry-after")).toBe(fault.kind === "rate-limit" ? "3" : null);
    expect((await ask("/v1/messages", { messages: [prompt], tools })).status).toBe(200);
  });

  it("cuts a stream in the middle", async () => {
    const ask = await server([{ when: {}, say: [{ text: "never whole" }], fault: { kind: "cut", afterEvents: 2 } }]);
    const messages = [{ role: "user", content: "implement it" }];
    const reply = await ask("/v1/messages", { messages, tools, stream: true });
    await expect(reply.text()).rejects.toThrow();
  });

  it("goes on after its own death, and keeps every raw request", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ratchet-model-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [script, record] = [join(folder, "script.mjs"), join(folder, "record.jsonl")];
    writeFileSync(script, 'export default [{ when: { toolResults: 1 }, say: [{ text: "the second" }] }];');
    const first = await child(script, record, "0");
    const second = await first.kill().then(() => child(script, record, new URL(first.url).port));
    const messages = [
      { role: "user", content: "go" },
      { role: "user", content: [{ type: "tool_result", content: "ok" }] },
    ];
    const body = JSON.stringify({ messages, tools });
    const reply = await (await fetch(`${second.url}/v1/messages`, { method: "POST", body })).json();
    expect(reply).toMatchObject({ content: [{ type: "text", text: "the second" }] });
    expect(JSON.parse(readFileSync(record, "utf8")).body).toEqual({ messages, tools });
    await second.kill();
  });
});

async function server(script: Script) {
  const { url, close } = await startModelServer({ script });
  onTestFinished(close);
  return (path: string, body: object) => fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
}

function events(text: string) {
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}

async function child(...args: string[]) {
  const program = fileURLToPath(new URL("../../dist-test/model-server.mjs", import.meta.url));
  const started = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const kill = async () => {
    started.kill("SIGKILL");
    if (started.exitCode === null && started.signalCode === null) await once(started, "exit");
  };
  onTestFinished(kill);
  const [line] = await once(started.stdout.setEncoding("utf8"), "data");
  return { url: String(line).trim(), kill };
}
