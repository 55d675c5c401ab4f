import type { AgentStatus } from "../../core/ports/agent.js";
import type { AgentSettings } from "../../core/settings.js";
import { messageOf } from "../../lib/errors.js";
import { type Fields, toFields, toText } from "../json.js";
import { notServed } from "./connection.js";
import { greet } from "./open.js";
import { startAcpProgram } from "./start.js";

const timeoutMs = 30_000;

/** Programs that Ratchet has been run with. */
const known: readonly (readonly [program: RegExp, version: RegExp])[] = [
  [/claude-agent-acp/, /^0\.49\./],
  [/codex-acp/, /^2\.6\./],
  [/^OpenCode$/, /^1\.18\./],
  [/^gemini-cli$/, /^0\.61\./],
];

/** Asks the program who it is; whether it is logged in shows only when it is to work. */
export async function acpStatus(
  settings: Pick<AgentSettings, "command">,
  env: NodeJS.ProcessEnv,
  cwd = process.cwd(),
): Promise<AgentStatus> {
  const answer = await introduce(settings.command, env, { cwd });
  if (typeof answer === "string") return { version: null, known: false, loggedIn: null, advice: answer };
  const info = toFields(answer.agentInfo);
  const [name, version] = [toText(info.name), toText(info.version)];
  const isTried = isKnown(info);
  const advice = isTried ? null : "not tried with Ratchet yet: look at what it does in a small issue first";
  return {
    version: [name, version].filter((one) => one !== "").join(" ") || "unknown",
    known: isTried,
    loggedIn: null,
    advice,
  };
}

/** `info`: the program's word on itself. */
export function isKnown(info: Fields): boolean {
  const [name, version] = [toText(info.name), toText(info.version)];
  return known.some(([program, versions]) => program.test(name) && versions.test(version));
}

/** What the program says of itself, or why it does not. Left, it throws the signal's reason. */
export async function introduce(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  { cwd, signal }: { readonly cwd: string; readonly signal?: AbortSignal },
): Promise<Fields | string> {
  const [program, ...given] = command;
  if (program === undefined) return "agent.command is empty: name a program that speaks ACP";
  const peer = { request: async (method: string) => notServed(method), notified: () => undefined };
  const running = startAcpProgram([program, ...given], { cwd, env, peer });
  const late = setTimeout(
    () => running.connection.fail(new Error(`no answer within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  const leave = () => running.connection.fail(new Error("interrupted"));
  signal?.addEventListener("abort", leave);
  try {
    return await greet(running.connection);
  } catch (error) {
    signal?.throwIfAborted();
    return `${program} does not speak ACP as expected: ${messageOf(error)}`;
  } finally {
    clearTimeout(late);
    signal?.removeEventListener("abort", leave);
    await running.end(1000);
  }
}
