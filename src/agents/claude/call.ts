import { join } from "node:path";
import type { ProgramCall, Turn, TurnFiles } from "../../core/ports/agent.js";
import { turnEnvironment } from "../../core/ports/turn-protocol.js";
import type { AgentSettings } from "../../core/settings.js";
import { writeDurably } from "../../lib/files.js";
import { guardEnvironment, writeGuardFile } from "../guard-file.js";
import { hookCommand, hookTimeoutSeconds } from "../hook-command.js";
import type { AgentPlace } from "../place.js";
import { idToResume } from "../session-id.js";

export async function prepareClaude(place: AgentPlace, turn: Turn): Promise<void> {
  const hook = { type: "command", command: hookCommand(place), timeout: hookTimeoutSeconds };
  // Said in so many words, because it goes before what the user's own settings say.
  const own = { disableAllHooks: false, hooks: { PreToolUse: [{ matcher: "*", hooks: [hook] }] } };
  await Promise.all([writeGuardFile(turn), writeDurably(settingsPath(turn.files), `${JSON.stringify(own)}\n`)]);
}

function settingsPath({ folder }: TurnFiles): string {
  return join(folder, "claude-settings.json");
}

export function callClaude(settings: AgentSettings, place: AgentPlace, turn: Turn): ProgramCall {
  const [program = "claude", ...given] = settings.command;
  const session = turn.sessionId === null && turn.guard.readOnly ? ["--no-session-persistence"] : [];
  return {
    argv: [
      ...([program, ...given, "-p", "--output-format", "stream-json", "--verbose"] as const),
      ...["--dangerously-skip-permissions", "--settings", settingsPath(turn.files), "--setting-sources", "user"],
      ...["--add-dir", turn.cwd],
      `--disallowedTools=${[...attendedTools, ...(turn.guard.readOnly ? writingTools : [])].join(",")}`,
      ...option("--model", turn.model),
      ...option("--effort", turn.effort),
      ...option("--resume", turn.sessionId === null ? null : idToResume(turn.sessionId)),
      ...session,
    ],
    env: { ...turnEnvironment(turn), ...guardEnvironment(turn), ...claudeEnvironment(place) },
    inherit: settings.env,
    ownTemporary: true,
    stopSignal: "SIGINT",
  };
}

/** They wait for a person, outlive the turn, or leave the worktree. */
const attendedTools = [
  ...["AskUserQuestion", "EnterWorktree", "ExitWorktree", "ScheduleWakeup"],
  ...["CronCreate", "CronDelete", "SendMessage"],
];
const writingTools = ["Edit", "Write", "NotebookEdit", "MultiEdit"];

function claudeEnvironment({ env }: AgentPlace): Record<string, string> {
  return {
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // CLAUDE.md of --add-dir, in place of the worktree's settings with everything else in them.
    CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1",
    // By itself it tries for minutes, and nobody sees it; Ratchet waits where it can be seen.
    CLAUDE_CODE_MAX_RETRIES: env.CLAUDE_CODE_MAX_RETRIES ?? "4",
    // Without it root may not skip the questions.
    ...(process.getuid?.() === 0 ? { IS_SANDBOX: "1" } : {}),
  };
}

function option(name: string, value: string | null): string[] {
  return value === null ? [] : [name, value];
}
