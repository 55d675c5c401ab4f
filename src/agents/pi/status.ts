import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { AgentStatus } from "../../core/ports/agent.js";
import { messageOf } from "../../lib/errors.js";
import { isOlderVersion } from "../version.js";
import { loginAdvice } from "./stream.js";

const knownVersions = /^0\.74\./;
/** Older ones lack flags that Ratchet calls it with. */
const leastVersion = "0.70";
export const installHint =
  "npm install --global @earendil-works/pi-coding-agent@0.74.2, or name the program in agent.command";

/** `command`: agent.command, where pi is not on PATH; `cwd`: where a relative one is. */
export async function piStatus(
  env: NodeJS.ProcessEnv,
  command: readonly string[] = [],
  cwd = process.cwd(),
): Promise<AgentStatus> {
  const [program = "pi", ...given] = command;
  const ask = async (flag: string) => {
    const options = { env: { ...env, PI_OFFLINE: "1" }, cwd, timeout: 30_000, maxBuffer: 16 * 1024 * 1024 };
    const { stdout, stderr } = await promisify(execFile)(program, [...given, flag], options);
    return `${stdout}\n${stderr}`;
  };
  try {
    const version = /\d+\.\d+\.\S+/.exec(await ask("--version"))?.[0] ?? null;
    if (version === null)
      return { version, known: false, loggedIn: null, advice: `${program} names no version: ${installHint}` };
    if (isOlderVersion(version, leastVersion)) {
      const advice = `Ratchet needs ${leastVersion} or newer: ${installHint}`;
      return { version, known: false, loggedIn: null, advice, works: false };
    }
    const loggedIn = !/No models available/.test(await ask("--list-models"));
    const known = knownVersions.test(version);
    const untried = `Ratchet was tried with 0.74; if something is wrong: ${installHint}`;
    return { version, known, loggedIn, advice: loggedIn ? (known ? null : untried) : loginAdvice };
  } catch (error) {
    const advice = `${installHint} (${messageOf(error).split("\n")[0]})`;
    return { version: null, known: false, loggedIn: null, advice };
  }
}
