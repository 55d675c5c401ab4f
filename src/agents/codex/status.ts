import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { AgentStatus } from "../../core/ports/agent.js";
import { messageOf } from "../../lib/errors.js";
import { readOptional } from "../../lib/files.js";
import { isOlderVersion } from "../version.js";
import { loginAdvice } from "./stream.js";
import { codexHome } from "./thread.js";

const knownVersions = /^0\.16[6-9]\./;
/** Older ones lack flags that Ratchet calls it with. */
const leastVersion = "0.100";
export const installHint = "npm install --global @openai/codex@0.166.0, or name the program in agent.command";

/** `command`: agent.command, where codex is not on PATH; `cwd`: where a relative one is. */
export async function codexStatus(
  env: NodeJS.ProcessEnv,
  command: readonly string[] = [],
  cwd = process.cwd(),
): Promise<AgentStatus> {
  const [program = "codex", ...given] = command;
  const ask = (...args: string[]) => promisify(execFile)(program, [...given, ...args], { env, cwd, timeout: 30_000 });
  try {
    const version = /\d+\.\d+\.\S+/.exec((await ask("--version")).stdout)?.[0] ?? null;
    if (version === null)
      return { version, known: false, loggedIn: null, advice: `${program} names no version: ${installHint}` };
    if (isOlderVersion(version, leastVersion)) {
      const advice = `Ratchet needs ${leastVersion} or newer: ${installHint}`;
      return { version, known: false, loggedIn: null, advice, works: false };
    }
    const loggedIn = await isLoggedIn(env, () => ask("login", "status"));
    const known = knownVersions.test(version);
    const untried = known ? null : `Ratchet was tried with 0.166; if something is wrong: ${installHint}`;
    return { version, known, loggedIn, advice: loggedIn === false ? loginAdvice : untried };
  } catch (error) {
    const advice = `${installHint} (${messageOf(error).split("\n")[0]})`;
    return { version: null, known: false, loggedIn: null, advice };
  }
}

/** It knows of its own login alone; a provider that the user has configured has a key of its own. */
async function isLoggedIn(env: NodeJS.ProcessEnv, ask: () => Promise<unknown>): Promise<boolean | null> {
  if (env.CODEX_API_KEY) return true;
  const isYes = await ask().then(
    () => true,
    () => false,
  );
  if (isYes) return true;
  const config = (await readOptional(join(codexHome(env), "config.toml"))) ?? "";
  return /^\s*model_provider\s*=/m.test(config) ? null : false;
}
