import type { Call } from "../shell/session.js";

/** What is known of a program. */
export interface Command {
  /** Everything it does is told by its arguments and judged by `run`: so it may run anywhere, also for a reviewer. */
  readonly judged: boolean;
  /** Which arguments may be paths that it reads; absent: all. */
  readonly reads?: (args: readonly string[]) => readonly string[];
  /** Refuses, or gives what the program would print; undefined: nobody knows. */
  readonly run?: (call: Call) => string | undefined;
}

export type Commands = Readonly<Record<string, Command>>;

export function each(names: readonly string[], command: Command): Commands {
  return Object.fromEntries(names.map((name) => [name, command]));
}
