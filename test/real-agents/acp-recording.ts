import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { toFields, toList, toText } from "../model-server/json.js";
import { endLeftovers, makeRepository } from "./recording.js";

/** The smallest client of the agent client protocol: enough to see what an adapter says. */

export type AcpName = "claude-agent-acp" | "codex-acp";

export interface AcpCase {
  readonly name: string;
  readonly prompt: string;
  readonly session: "new" | "resumed" | "unknown";
  readonly permission: "allow" | "reject";
  /** Once a tool runs. */
  readonly cut?: "cancel" | "SIGKILL";
}

export const acpCases: readonly AcpCase[] = [
  { name: "success", prompt: "WRITE the file", session: "new", permission: "allow" },
  { name: "resume", prompt: "MORE please", session: "resumed", permission: "allow" },
  { name: "stale-session", prompt: "MORE please", session: "unknown", permission: "allow" },
  { name: "tool-denied", prompt: "PUSH it", session: "new", permission: "reject" },
  { name: "rate-limited", prompt: "RATE-LIMITED", session: "new", permission: "allow" },
  { name: "usage-limit", prompt: "USAGE-LIMIT", session: "new", permission: "allow" },
  { name: "overloaded", prompt: "OVERLOADED", session: "new", permission: "allow" },
  { name: "context-overflow", prompt: "CONTEXT-OVERFLOW", session: "new", permission: "allow" },
  { name: "cancelled", prompt: "SLEEP a while", session: "new", permission: "allow", cut: "cancel" },
  { name: "killed", prompt: "SLEEP a while", session: "new", permission: "allow", cut: "SIGKILL" },
];

export interface AcpTurn {
  readonly received: readonly string[];
  readonly sent: readonly string[];
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

const turnTimeoutMs = 120_000;
const unknownSession = "22222222-2222-4222-8222-222222222222";

export async function playAcpCase(
  program: AcpName,
  one: AcpCase,
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): Promise<AcpTurn> {
  const dir = makeRepository(root, env);
  // Three minutes of claude's own patience are no part of any case.
  const place = { program, dir, root, env: { ...env, CLAUDE_CODE_MAX_RETRIES: "1" } };
  if (one.session !== "resumed") return playTurn(one, one.session === "new" ? null : unknownSession, place);
  const first: AcpCase = { name: "first", prompt: "WRITE the file", session: "new", permission: "allow" };
  return playTurn(one, sessionOf((await playTurn(first, null, place)).received), place);
}

function sessionOf(lines: readonly string[]): string {
  const ids = lines.map((line) => toText(toFields(toFields(JSON.parse(line)).result).sessionId));
  return ids.find((id) => id !== "") ?? "";
}

interface Place {
  readonly program: AcpName;
  readonly dir: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

async function playTurn(one: AcpCase, session: string | null, { program, dir, root, env }: Place): Promise<AcpTurn> {
  const child = spawn(program, [], { cwd: dir, env, stdio: ["pipe", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), turnTimeoutMs);
  const ended = new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => endLeftovers(root));
    child.once("close", (code, by) => resolve([code, by]));
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const client = talk(child, one);
  const talked = converse(client, one, { program, dir, session });
  await Promise.race([talked, ended]);
  child.stdin.end();
  const [exitCode, signal] = await ended;
  clearTimeout(timer);
  return { ...client, stderr, exitCode, signal };
}

type Client = ReturnType<typeof talk>;

function talk(child: ReturnType<typeof spawn>, one: AcpCase) {
  const [received, sent]: [string[], string[]] = [[], []];
  const waiting = new Map<unknown, (answer: unknown) => void>();
  const send = (message: object) => {
    sent.push(JSON.stringify({ jsonrpc: "2.0", ...message }));
    child.stdin?.write(`${sent.at(-1)}\n`);
  };
  const ask = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      const id = waiting.size;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  let session = "";
  const onLine = (line: string) => {
    received.push(line);
    const message = toFields(JSON.parse(line));
    if (message.method === undefined) return waiting.get(message.id)?.(message);
    const params = toFields(message.params);
    session = toText(params.sessionId);
    if (message.method === "session/request_permission") send({ id: message.id, result: choose(params, one) });
    else if (message.id !== undefined) send({ id: message.id, error: { code: -32601, message: "unknown method" } });
    else if (one.cut && isRunningTool(params)) {
      if (one.cut === "SIGKILL") child.kill("SIGKILL");
      else send({ method: "session/cancel", params: { sessionId: session } });
    }
  };
  if (child.stdout) createInterface({ input: child.stdout }).on("line", onLine);
  return { received, sent, ask };
}

async function converse(
  { ask }: Pick<Client, "ask">,
  { prompt, permission }: AcpCase,
  { program, dir, session }: { program: AcpName; dir: string; session: string | null },
): Promise<void> {
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  await ask("initialize", { protocolVersion: 1, clientCapabilities });
  const where = { cwd: dir, mcpServers: [] };
  const opened = toFields(
    session === null ? await ask("session/new", where) : await ask("session/load", { sessionId: session, ...where }),
  );
  if (opened.error !== undefined) return;
  const sessionId = session ?? toText(toFields(opened.result).sessionId);
  // Codex asks for permission in the one mode and cannot commit but in the other.
  const modeId = permission === "allow" ? "agent-full-access" : "read-only";
  if (program === "codex-acp") await ask("session/set_mode", { sessionId, modeId });
  const text = program === "codex-acp" && permission === "reject" ? "ESCALATE it" : prompt;
  await ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
}

/** By its kind: ids are the adapter's own. */
function choose(params: ReturnType<typeof toFields>, { permission }: AcpCase): object {
  const wanted = permission === "allow" ? "allow_once" : "reject_once";
  const option = toList(params.options)
    .map(toFields)
    .find(({ kind }) => kind === wanted);
  return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
}

function isRunningTool(params: ReturnType<typeof toFields>): boolean {
  const update = toFields(params.update);
  const isTool = update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update";
  return isTool && Object.keys(toFields(update.rawInput)).length > 0;
}
