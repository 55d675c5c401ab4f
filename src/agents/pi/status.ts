import type { AgentStatus } from "../../core/ports/agent.js";
import { askStatus } from "../ask-status.js";
import { loginAdvice } from "./stream.js";

export const installHint =
  "npm install --global @earendil-works/pi-coding-agent@0.74.2, or name the program in agent.command";

/** `command`: agent.command, where pi is not on PATH; `cwd`: where a relative one is. */
export function piStatus(
  env: NodeJS.ProcessEnv,
  command: readonly string[] = [],
  cwd = process.cwd(),
): Promise<AgentStatus> {
  const [program = "pi", ...given] = command;
  return askStatus({
    ...{ program, given, env: { ...env, PI_OFFLINE: "1" }, cwd, installHint, loginAdvice },
    ...{ known: /^0\.74\./, triedWith: "0.74", least: "0.70" },
    isLoggedIn: async (ask) => {
      const { stdout, stderr } = await ask("--list-models");
      return !/No models available/.test(`${stdout}\n${stderr}`);
    },
  });
}
