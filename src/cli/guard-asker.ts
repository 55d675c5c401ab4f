import type { Asker } from "../core/ports/tracker.js";
import type { Context } from "./context.js";

export const interruptedEarly = "interrupted before anything was started";

/**
 * Opens what has the guards of its agents tested, on behalf of somebody who is told when that takes long, and may leave.
 * A closed terminal ends us, as any program: but first the test, with all that it has started.
 */
export async function whileGuardsAreTested<T>(
  { out }: Pick<Context, "out">,
  signal: AbortSignal,
  open: (asker: Asker) => Promise<T>,
): Promise<T> {
  const hungUp = new AbortController();
  // Whoever else listens is to outlive its terminal.
  const onHangUp = () => (process.listenerCount("SIGHUP") > 1 ? undefined : hungUp.abort());
  process.on("SIGHUP", onHangUp);
  const onSlow: Asker["onSlow"] = (what) => out.note(`testing ${what}, once for each version of the program`);
  try {
    return await open({ signal: AbortSignal.any([signal, hungUp.signal]), onSlow });
  } finally {
    process.off("SIGHUP", onHangUp);
    if (hungUp.signal.aborted) process.kill(process.pid, "SIGHUP");
  }
}
