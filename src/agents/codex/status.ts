import { join } from "node:path";
import type { AgentStatus } from "../../core/ports/agent.js";
import { readOptional } from "../../lib/files.js";
import { type Ask, askStatus } from "../ask-status.js";
import { loginAdvice } from "./stream.js";
import { codexHome } from "./thread.js";

export const installHint = "npm install --global @openai/codex@0.166.0, or name the program in agent.command";

/** `command`: agent.command, where codex is not on PATH; `cwd`: where a relative one is. */
export function codexStatus(
  env: NodeJS.ProcessEnv,
  command: readonly string[] = [],
  cwd = process.cwd(),
): Promise<AgentStatus> {
  const [program = "codex", ...given] = command;
  const versions = { known: /^0\.16[6-9]\./, triedWith: "0.166", least: "0.100" };
  const words = { installHint, loginAdvice };
  return askStatus({ program, given, env, cwd, ...versions, ...words, isLoggedIn: (ask) => isLoggedIn(env, ask) });
}

/** It knows of its own login alone; a provider that the user has configured has a key of its own. */
async function isLoggedIn(env: NodeJS.ProcessEnv, ask: Ask): Promise<boolean | null> {
  if (env.CODEX_API_KEY) return true;
  const isYes = await ask("login", "status").then(
    () => true,
    () => false,
  );
  if (isYes) return true;
  const config = (await readOptional(join(codexHome(env), "config.toml"))) ?? "";
  return /^\s*model_provider\s*=/m.test(config) ? null : false;
}
