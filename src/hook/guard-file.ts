import { appendFileSync, closeSync, openSync, readFileSync } from "node:fs";
import type { GuardPolicy } from "./types.js";

/** The policy of a turn and where its guard leaves word, as written for it by the agent's adapter. */
export interface GuardFile {
  readonly guard: GuardPolicy;
  /** Refusals, a line each. */
  readonly denied: string;
  /** Exists once the guard was asked. */
  readonly asked: string;
}

/** Throws when there is none, or when it is not one: then nothing may be allowed. */
export function readGuardFile(path: string | undefined): GuardFile {
  if (path === undefined || path === "") throw new Error("RATCHET_GUARD is not set");
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isGuardFile(value)) throw new Error(`${path} is not a guard file`);
  const { worktree, readOnly, writable, denied, asked } = value;
  return { guard: { worktree, readOnly, writable }, denied, asked };
}

export function markAsked({ asked }: GuardFile): void {
  closeSync(openSync(asked, "a", 0o600));
}

/** One line each, appended at once, so that guards that run side by side do not mix theirs. */
export function noteDenied({ denied }: GuardFile, refusal: { tool: string; reason: string; input: unknown }): void {
  const input = JSON.stringify(refusal.input) ?? "null";
  const line = {
    at: new Date().toISOString(),
    tool: refusal.tool,
    reason: refusal.reason,
    input: input.slice(0, 2000),
  };
  appendFileSync(denied, `${JSON.stringify(line)}\n`, { mode: 0o600 });
}

function isGuardFile(value: unknown): value is GuardPolicy & { denied: string; asked: string } {
  if (typeof value !== "object" || value === null) return false;
  const { worktree, readOnly, writable, denied, asked } = value as Record<string, unknown>;
  const isPath = (path: unknown) => typeof path === "string" && path.startsWith("/");
  return (
    isPath(worktree) &&
    typeof readOnly === "boolean" &&
    Array.isArray(writable) &&
    writable.every(isPath) &&
    isPath(denied) &&
    isPath(asked)
  );
}
