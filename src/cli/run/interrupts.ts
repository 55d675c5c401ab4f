import type { StartedRun } from "../../app.js";

/**
 * Ctrl-C in three steps: drain, stop, kill. The level only rises and outlives a single run, so that a run that is
 * opened after the first Ctrl-C is drained as well. The third leaves everything as a crash would: nothing is lost.
 */
export interface Interrupts {
  readonly level: 0 | 1 | 2 | 3;
  /** Aborted with the first: nothing new begins. */
  readonly signal: AbortSignal;
  /** Passes on what came before, and what comes while the run goes on; returns how to let go of it. */
  attach(run: StartedRun, say: (text: string) => void): () => void;
  close(): void;
}

const texts = {
  1: "draining, press again to stop",
  2: "stopping at the next safe point, press again to kill",
  3: "killed; ratchet run goes on from here",
} as const;

interface Attached {
  readonly run: StartedRun;
  readonly say: (text: string) => void;
}

export function listenForInterrupts(host: NodeJS.Process): Interrupts {
  let level: Interrupts["level"] = 0;
  let attached: Attached | null = null;
  const first = new AbortController();
  const raise = (to: 1 | 2 | 3) => {
    if (to <= level) return;
    level = to;
    first.abort(new Error("interrupted"));
    if (attached) pass(attached, to, host);
    else if (to === 3) host.exit(130);
  };
  const onInterrupt = () => raise(level === 0 ? 1 : level === 1 ? 2 : 3);
  const onTerminate = () => raise(2);
  host.on("SIGINT", onInterrupt);
  host.on("SIGTERM", onTerminate);
  return {
    signal: first.signal,
    get level() {
      return level;
    },
    attach: (run, say) => {
      attached = { run, say };
      if (level > 0) pass(attached, level, host);
      return () => {
        attached = null;
      };
    },
    close: () => {
      host.off("SIGINT", onInterrupt);
      host.off("SIGTERM", onTerminate);
    },
  };
}

function pass({ run, say }: Attached, level: Interrupts["level"], host: NodeJS.Process): void {
  if (level === 0) return;
  say(texts[level]);
  if (level === 3) {
    run.kill();
    host.exit(130);
  }
  run
    .signal(level === 1 ? "drain" : "stop")
    .catch((error: unknown) => say(`the signal could not be recorded: ${error}`));
}
