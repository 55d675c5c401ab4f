import { join } from "node:path";
import type { StopEffect } from "../../core/issue/effects.js";
import type { IssueEvent } from "../../core/issue/events.js";
import type { Clock } from "../../core/ports/clock.js";
import type { Settled } from "../../durable/types.js";
import { readJson } from "../../lib/files.js";
import { followProgram } from "../../lib/process/follow.js";
import { stopShellCommand } from "../../lib/run-command.js";
import { attemptFolder, type LifeContext } from "../context.js";

/** Winds down a turn or command that is still owed; that one settles by itself once its process is gone. */
export async function performStop(
  life: LifeContext,
  effect: StopEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  const folder = attemptFolder(life, effect.folder);
  await stopFolder({ folder, how: effect.how, clock: life.run.clock }, signal);
  life.pending.get(effect.folder)?.abort(new Error("stopped before it started"));
  return { event: { type: "stop-done", key: effect.key } };
}

/** Ends what runs in an attempt's folder. */
export async function stopFolder(
  { folder, how, clock }: { readonly folder: string; readonly how: StopEffect["how"]; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  if (how === "patient") {
    const end = await followProgram(folder, { signal, timeoutAt: clock.now() + 10_000 });
    if (end.type === "exited") return;
  }
  const attempt = await readJson(join(folder, "attempt.json"));
  await stopShellCommand(folder, {
    first: how === "clean" && isInterrupted(attempt) ? "SIGINT" : "SIGTERM",
    graceMs: how === "kill" ? 2_000 : 10_000,
    why: "stopped",
  });
}

/** The turn wrote down on which signal its program ends cleanly. */
function isInterrupted(attempt: unknown): boolean {
  return (
    typeof attempt === "object" && attempt !== null && "stop_signal" in attempt && attempt.stop_signal === "SIGINT"
  );
}
