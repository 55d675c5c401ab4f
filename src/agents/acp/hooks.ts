import { lstatSync } from "node:fs";
import { join } from "node:path";
import { hookTimeoutSeconds } from "../hook-command.js";
import { type Fields, parseFields, toFields, toList } from "../json.js";

/**
 * Not every program asks its client before it acts: codex-acp cannot commit in a mode in which it asks, and claude lets
 * pass what a project's settings allow. Both have hooks, and can be given ours on the way: the guard is asked there too.
 * OpenCode asks about nothing unless it is told to, and is told so here. To other programs this says nothing.
 */
function hooksOf(command: string): Fields {
  const hook = { type: "command", command, timeout: hookTimeoutSeconds };
  return { PreToolUse: [{ matcher: "*", hooks: [hook] }] };
}

/** For `session/new` and `session/load`: what claude-agent-acp gives to claude. The worktree's settings are not read; its CLAUDE.md is. */
export function sessionMeta(hookCommand: string, cwd: string): Fields {
  const settings = { disableAllHooks: false, hooks: hooksOf(hookCommand) };
  const options = { settings, settingSources: ["user"], additionalDirectories: [cwd] };
  // What it used is in these alone until the turn ends, and in nothing else when the turn is stopped.
  return { claudeCode: { options, emitRawSDKMessages: [{ type: "assistant" }, { type: "result" }] } };
}

/** For the program's environment: what codex-acp, claude and OpenCode read there. `env`: ours, for what the user has set of it. */
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
  return {
    CODEX_CONFIG: JSON.stringify(config),
    CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1",
    ...openCodeEnvironment(cwd, env),
  };
}

/**
 * Rules that are named win over "*", the last one over the others: so each is named. Nobody is asked what an agent does
 * that OpenCode sends out itself, so it may send out none.
 */
const asking = { read: "ask", edit: "ask", bash: "ask", webfetch: "ask", external_directory: "ask", task: "deny" };
const permission = { "*": "ask", ...asking };

/** The worktree's own configuration, which an agent could have written, is not read; its instructions are handed over. */
function openCodeEnvironment(cwd: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const given = parseFields(env.OPENCODE_CONFIG_CONTENT ?? "") ?? {};
  const instructions = ["AGENTS.md", "CLAUDE.md"]
    .map((name) => join(cwd, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true);
  const content = {
    ...given,
    permission,
    agent: { ...toFields(given.agent), build: { permission }, plan: { permission: { bash: "ask" } } },
    instructions: [...toList(given.instructions), ...instructions.slice(0, 1)],
  };
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(content),
    OPENCODE_PERMISSION: JSON.stringify(permission),
    OPENCODE_DISABLE_PROJECT_CONFIG: "1",
  };
}
