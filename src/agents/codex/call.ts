import { existsSync, realpathSync } from "node:fs";
import type { ProgramCall, Turn } from "../../core/ports/agent.js";
import { turnEnvironment } from "../../core/ports/turn-protocol.js";
import type { AgentSettings } from "../../core/settings.js";
import { guardEnvironment, writeGuardFile } from "../guard-file.js";
import { hookCommand, hookTimeoutSeconds } from "../hook-command.js";
import type { AgentPlace } from "../place.js";
import { idToResume } from "../session-id.js";
import { readInstructions } from "./instructions.js";
import { codexHome, writeBase } from "./thread.js";

export async function prepareCodex({ env }: AgentPlace, turn: Turn): Promise<void> {
  await Promise.all([
    writeGuardFile(turn),
    writeBase(turn.files, { thread: turn.sessionId, model: turn.model, home: codexHome(env) }),
  ]);
}

export function callCodex(settings: AgentSettings, place: AgentPlace, turn: Turn): ProgramCall {
  const [program = "codex", ...given] = settings.command;
  const { readOnly } = turn.guard;
  const instructions = readInstructions(turn.cwd);
  return {
    argv: [
      ...([program, ...given, "exec", "--json", "--skip-git-repo-check"] as const),
      ...guardOptions(place, turn.cwd),
      ...(readOnly
        ? [...config("sandbox_mode", '"read-only"'), ...config("approval_policy", '"never"')]
        : ["--dangerously-bypass-approvals-and-sandbox"]),
      ...(readOnly && turn.sessionId === null ? ["--ephemeral"] : []),
      ...(turn.model === null ? [] : ["--model", turn.model]),
      ...(turn.effort === null ? [] : config("model_reasoning_effort", JSON.stringify(turn.effort))),
      ...(instructions === null ? [] : config("developer_instructions", toToml(instructions))),
      ...(turn.sessionId === null ? [] : ["resume", idToResume(turn.sessionId)]),
      "-",
    ],
    env: { ...turnEnvironment(turn), ...guardEnvironment(turn) },
    inherit: settings.env,
    ownTemporary: true,
    stopSignal: "SIGINT",
  };
}

/**
 * Hooks are passed over without a word unless they were trusted by hand, so trust is waived for this start; then the
 * worktree must not be trusted, or hooks that an agent has put there would run. Left alone, codex trusts it by itself.
 */
function guardOptions(place: AgentPlace, cwd: string): string[] {
  const hook = `{type="command",command=${JSON.stringify(hookCommand(place))},timeout=${hookTimeoutSeconds}}`;
  return [
    ...["--dangerously-bypass-hook-trust", ...config("features.hooks", "true")],
    ...config("hooks.PreToolUse", `[{matcher="*",hooks=[${hook}]}]`),
    ...config("projects", `{${[...pathsOf(cwd)].map(untrusted).join(",")}}`),
    ...config("features.unified_exec_tty", "false"),
    ...config("features.multi_agent", "false"),
    ...config("check_for_update_on_startup", "false"),
  ];
}

function untrusted(path: string): string {
  return `${JSON.stringify(path)}={trust_level="untrusted"}`;
}

/** As it was given and as the program will see it. */
function pathsOf(path: string): ReadonlySet<string> {
  return new Set(existsSync(path) ? [path, realpathSync(path)] : [path]);
}

/** JSON's strings are TOML's, but for one character. */
function toToml(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "");
}

function config(key: string, value: string): string[] {
  return ["-c", `${key}=${value}`];
}
