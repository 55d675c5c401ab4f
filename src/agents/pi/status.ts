import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { AgentStatus } from "../../core/ports/agent.js";
import { messageOf } from "../../lib/errors.js";
import { loginAdvice } from "./stream.js";

const knownVersions = /^0\.74\./;
const install = "npm install --global @earendil-works/pi-coding-agent@0.74.2";

/** `command`: agent.command, where pi is not on PATH. */
export async function piStatus(env: NodeJS.ProcessEnv, command: readonly string[] = []): Promise<AgentStatus> {
  const [program = "pi", ...given] = command;
  const ask = async (flag: string) => {
    const options = { env: { ...env, PI_OFFLINE: "1" }, timeout: 30_000, maxBuffer: 16 * 1024 * 1024 };
    const { stdout, stderr } = await promisify(execFile)(program, [...given, flag], options);
    return `${stdout}\n${stderr}`;
  };
  try {
    const version = /\d+\.\d+\.\S+/.exec(await ask("--version"))?.[0] ?? null;
    if (version === null)
      return { version, known: false, loggedIn: null, advice: `${program} names no version: ${install}` };
    const loggedIn = !/No models available/.test(await ask("--list-models"));
    const known = knownVersions.test(version);
    const untried = `Ratchet was tried with 0.74; if something is wrong: ${install}`;
    return { version, known, loggedIn, advice: loggedIn ? (known ? null : untried) : loginAdvice };
  } catch (error) {
    const advice = `${install} (${messageOf(error).split("\n")[0]})`;
    return { version: null, known: false, loggedIn: null, advice };
  }
}
