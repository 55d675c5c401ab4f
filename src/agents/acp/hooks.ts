import { hookTimeoutSeconds } from "../hook-command.js";
import { type Fields, parseFields } from "../json.js";

/**
 * Not every program asks its client before it acts: codex-acp cannot commit in a mode in which it asks, and claude lets
 * pass what a project's settings allow. Both have hooks, and can be given ours on the way: the guard is asked there too.
 * To other programs this says nothing.
 */
function hooksOf(command: string): Fields {
  const hook = { type: "command", command, timeout: hookTimeoutSeconds };
  return { PreToolUse: [{ matcher: "*", hooks: [hook] }] };
}

/** For `session/new` and `session/load`: what claude-agent-acp gives to claude. The worktree's settings are not read; its CLAUDE.md is. */
export function sessionMeta(hookCommand: string, cwd: string): Fields {
  const settings = { disableAllHooks: false, hooks: hooksOf(hookCommand) };
  return { claudeCode: { options: { settings, settingSources: ["user"], additionalDirectories: [cwd] } } };
}

/** For the program's environment: what codex-acp and claude read there. `env`: ours, for a CODEX_CONFIG of the user's. */
export function hookEnvironment(hookCommand: string, cwd: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const given = parseFields(env.CODEX_CONFIG ?? "") ?? {};
  const config = {
    ...given,
    hooks: hooksOf(hookCommand),
    // Hooks that nobody has trusted by hand are passed over without a word; so the worktree's own must not be read.
    bypass_hook_trust: true,
    projects: { [cwd]: { trust_level: "untrusted" } },
    features: { hooks: true, unified_exec_tty: false, multi_agent: false },
  };
  return { CODEX_CONFIG: JSON.stringify(config), CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1" };
}
