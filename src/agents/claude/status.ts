import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { AgentStatus } from "../../core/ports/agent.js";
import { messageOf } from "../../lib/errors.js";
import { parseFields } from "../json.js";
import { isOlderVersion } from "../version.js";
import { loginAdvice } from "./stream.js";

const knownVersions = /^2\.1\./;
/** Older ones lack flags that Ratchet calls it with. */
const leastVersion = "2.0";
export const installHint =
  "npm install --global @anthropic-ai/claude-code@2.1.197, or name the program in agent.command";

/** `command`: agent.command, where claude is not on PATH; `cwd`: where a relative one is. */
export async function claudeStatus(
  env: NodeJS.ProcessEnv,
  command: readonly string[] = [],
  cwd = process.cwd(),
): Promise<AgentStatus> {
  const [program = "claude", ...given] = command;
  const options = { env: { ...env, DISABLE_AUTOUPDATER: "1" }, cwd, timeout: 30_000 };
  const ask = (...args: string[]) => promisify(execFile)(program, [...given, ...args], options);
  try {
    const version = /\d+\.\d+\.\S+/.exec((await ask("--version")).stdout)?.[0] ?? null;
    if (version === null)
      return { version, known: false, loggedIn: null, advice: `${program} names no version: ${installHint}` };
    if (isOlderVersion(version, leastVersion)) {
      const advice = `Ratchet needs ${leastVersion} or newer: ${installHint}`;
      return { version, known: false, loggedIn: null, advice, works: false };
    }
    const loggedIn = await isLoggedIn(() => ask("auth", "status"));
    const known = knownVersions.test(version);
    const untried = known ? null : `Ratchet was tried with 2.1; if something is wrong: ${installHint}`;
    return { version, known, loggedIn, advice: loggedIn === false ? loginAdvice : untried };
  } catch (error) {
    const advice = `${installHint} (${messageOf(error).split("\n")[0]})`;
    return { version: null, known: false, loggedIn: null, advice };
  }
}

/** It answers on stdout and leaves with 1 where the answer is no; one that does not know the question leaves us unsure. */
async function isLoggedIn(ask: () => Promise<{ readonly stdout: string }>): Promise<boolean | null> {
  const stdout = await ask().then(
    (answer) => answer.stdout,
    (error: unknown) => (error instanceof Error && "stdout" in error ? String(error.stdout) : ""),
  );
  const said = parseFields(stdout)?.loggedIn;
  return typeof said === "boolean" ? said : null;
}
