import type { Asker } from "../core/ports/tracker.js";
import type { Context } from "./context.js";

export const interruptedEarly = "interrupted before anything was started";

/** Who waits while the guards of agents are tested, says so when that takes long, and may leave. */
export function guardAsker({ out }: Pick<Context, "out">, signal: AbortSignal): Asker {
  return { signal, onSlow: (what) => out.note(`testing ${what}, once for each version of the program`) };
}
