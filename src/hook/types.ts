import type { Guard } from "../core/ports/agent.js";

export type GuardPolicy = Guard;

/** A tool call of any agent. Paths are absolute. */
export type ToolCall =
  | { readonly kind: "shell"; readonly command: string; readonly cwd: string }
  | { readonly kind: "write" | "read"; readonly paths: readonly string[] }
  | { readonly kind: "fetch"; readonly url: string }
  /** reads: known to change nothing. */
  | { readonly kind: "other"; readonly name: string; readonly reads: boolean };

export type Decision = { readonly allow: true } | { readonly allow: false; readonly reason: string };

/** What of the machine a decision looks at, besides links. */
export interface Place {
  readonly home: string;
  /** Where mktemp and $TMPDIR point. */
  readonly tmp: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the guard itself goes by: never to be written, wherever it lies. */
  readonly kept?: readonly string[];
  /** Was this process started by the turn that asks? true as well where nobody can tell. */
  ownsProcess(pid: number): boolean;
}
