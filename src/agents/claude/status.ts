import type { AgentStatus } from "../../core/ports/agent.js";
import { type Ask, askStatus } from "../ask-status.js";
import { parseFields } from "../json.js";
import { loginAdvice } from "./stream.js";

export const installHint =
  "npm install --global @anthropic-ai/claude-code@2.1.197, or name the program in agent.command";

/** `command`: agent.command, where claude is not on PATH; `cwd`: where a relative one is. */
export function claudeStatus(
  env: NodeJS.ProcessEnv,
  command: readonly string[] = [],
  cwd = process.cwd(),
): Promise<AgentStatus> {
  const [program = "claude", ...given] = command;
  const place = { program, given, env: { ...env, DISABLE_AUTOUPDATER: "1" }, cwd };
  const versions = { known: /^2\.1\./, triedWith: "2.1", least: "2.0" };
  return askStatus({ ...place, ...versions, installHint, loginAdvice, isLoggedIn });
}

/** It answers on stdout and leaves with 1 where the answer is no; one that does not know the question leaves us unsure. */
async function isLoggedIn(ask: Ask): Promise<boolean | null> {
  const stdout = await ask("auth", "status").then(
    (answer) => answer.stdout,
    (error: unknown) => (error instanceof Error && "stdout" in error ? String(error.stdout) : ""),
  );
  const said = parseFields(stdout)?.loggedIn;
  return typeof said === "boolean" ? said : null;
}
