import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentSettings } from "../../core/settings.js";
import { allowedEnvironment } from "../../lib/environment.js";
import type { AgentPlace } from "../place.js";

export interface Missing {
  readonly message: string;
  readonly hint: string;
}

const timeoutMs = 60_000;
const model = "proof";

/**
 * Runs pi with our guard against a model on loopback that asks for one command which the guard refuses: then the guard
 * was asked and the command did not run. null: so it was. pi's own folder is a temporary one, nothing of it stays.
 */
export async function provePiGuard(settings: AgentSettings, place: AgentPlace, dir: string): Promise<Missing | null> {
  const folder = await mkdtemp(join(tmpdir(), "ratchet-proof-"));
  const worktree = join(folder, "worktree");
  const [ran, asked] = [join(worktree, "ran"), join(folder, "guard-asked")];
  const server = await startModel(`touch '${ran}'`);
  try {
    await mkdir(worktree);
    const guard = { worktree, readOnly: true, writable: [], denied: join(folder, "denied.jsonl"), asked };
    await writeFile(join(folder, "guard.json"), JSON.stringify(guard));
    await writeFile(join(folder, "models.json"), JSON.stringify(modelsAt(server)));
    const words = await runPi(settings, place, { dir, folder, worktree });
    if (existsSync(asked) && !existsSync(ran)) return null;
    const what = existsSync(ran) ? "a command ran that the guard refuses" : "the guard was not asked";
    return {
      message: `pi does not keep to its guard: ${what}${words}`,
      hint: "see docs/agents/pi.md for versions that do",
    };
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What it said last on stderr, for the message. */
function runPi(
  settings: AgentSettings,
  place: AgentPlace,
  { dir, folder, worktree }: { readonly dir: string; readonly folder: string; readonly worktree: string },
): Promise<string> {
  const [program = "pi", ...given] = settings.command;
  const args = ["-p", "--mode", "json", "--no-session", "--no-extensions", "-e", place.programs.piGuard];
  const own = {
    PI_CODING_AGENT_DIR: folder,
    PI_OFFLINE: "1",
    RATCHET_GUARD: join(folder, "guard.json"),
  };
  const child = spawn(
    program.startsWith(".") ? join(dir, program) : program,
    [...given, ...args, "--model", `local/${model}`],
    {
      cwd: worktree,
      env: { ...allowedEnvironment(place.env, settings.env), ...own },
      stdio: ["pipe", "ignore", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    },
  );
  let words = "";
  child.stderr.on("data", (chunk: Buffer) => {
    words = `${words}${chunk.toString("utf8")}`.slice(-2000);
  });
  // It may be gone before it has read anything.
  child.stdin.on("error", () => undefined).end("Go.\n");
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`: ${error.message}`));
    child.on("close", () => resolve(words.trim() === "" ? "" : `: ${words.trim().split("\n").at(-1)}`));
  });
}

function modelsAt(server: Server): object {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const one = { id: model, name: model, reasoning: false, input: ["text"], contextWindow: 100_000, maxTokens: 1000 };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const provider = { baseUrl: `http://127.0.0.1:${port}`, apiKey: "none", api: "anthropic-messages" };
  return { providers: { local: { ...provider, models: [{ ...one, cost }] } } };
}

/** Asks for the command first and says one word afterwards. */
async function startModel(command: string): Promise<Server> {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      requests++;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const say = requests === 1 ? toolCall(command) : text("Done.");
      for (const data of message(say)) response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  return server;
}

interface Said {
  readonly block: object;
  readonly delta: object;
  readonly reason: string;
}

function toolCall(command: string): Said {
  const delta = { type: "input_json_delta", partial_json: JSON.stringify({ command }) };
  return { block: { type: "tool_use", id: "toolu_proof", name: "bash", input: {} }, delta, reason: "tool_use" };
}

function text(words: string): Said {
  return { block: { type: "text", text: "" }, delta: { type: "text_delta", text: words }, reason: "end_turn" };
}

function message({ block, delta, reason }: Said): { readonly type: string }[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const start = { id: "msg_proof", type: "message", role: "assistant", model, content: [], stop_reason: null, usage };
  return [
    { type: "message_start", ...{ message: start } },
    { type: "content_block_start", ...{ index: 0, content_block: block } },
    { type: "content_block_delta", ...{ index: 0, delta } },
    { type: "content_block_stop", ...{ index: 0 } },
    { type: "message_delta", ...{ delta: { stop_reason: reason, stop_sequence: null }, usage } },
    { type: "message_stop" },
  ];
}
