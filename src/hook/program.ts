import { readFileSync } from "node:fs";
import { messageOf } from "../lib/errors.js";
import { decide } from "./decide.js";
import { markAsked, noteDenied, readGuardFile } from "./guard-file.js";
import { normalise } from "./normalise.js";
import type { Decision } from "./types.js";

/**
 * Asked by claude and codex before each tool: the call as JSON on stdin, the answer as JSON on stdout. Whatever goes
 * wrong here is a refusal, never a pass: a word on stdout for a program that reads it, and exit 2 for one that does not.
 */
function main(): void {
  const event: unknown = JSON.parse(readFileSync(0, "utf8"));
  if (typeof event !== "object" || event === null) throw new Error("the call is not an object");
  const { hook_event_name: name, tool_name: tool, tool_input: input, cwd } = event as Record<string, unknown>;
  const file = readGuardFile(process.env.RATCHET_GUARD);
  markAsked(file);
  if (name === "SessionStart") return;
  if (typeof tool !== "string") throw new Error("the call names no tool");
  const call = normalise({ tool, input, cwd: typeof cwd === "string" ? cwd : file.guard.worktree });
  const decision: Decision =
    call === null ? { allow: false, reason: `the input of ${tool} cannot be read` } : decide(file.guard, call);
  if (decision.allow) return;
  noteDenied(file, { tool, reason: decision.reason, input });
  deny(decision.reason);
}

function deny(reason: string): void {
  const answer = {
    hookEventName: "PreToolUse",
    permissionDecision: "deny",
    permissionDecisionReason: `Ratchet's guard: ${reason}`,
  };
  process.stdout.write(`${JSON.stringify({ hookSpecificOutput: answer })}\n`);
}

try {
  main();
} catch (error) {
  const reason = `nothing is allowed, because the guard cannot decide: ${messageOf(error)}`;
  deny(reason);
  process.stderr.write(`Ratchet's guard: ${reason}\n`);
  process.exitCode = 2;
}
