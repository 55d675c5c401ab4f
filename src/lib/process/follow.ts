import { type FSWatcher, statSync, watch } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../errors.js";
import { type Attempt, attemptOf, isOrphaned, isTreeClaimed, readPid, readStopMark, touchLease } from "./attempt.js";
import { findAttempt } from "./find.js";
import { type OwnShim, ownShim } from "./start.js";
import { endClaimed, endLost, reapLeftovers } from "./stop.js";

export interface Follow {
  readonly signal: AbortSignal;
  /** Wall clock, ms since the epoch. */
  readonly timeoutAt?: number;
  /** Awake time without a change in any of the `activity` files. */
  readonly idleSeconds?: number;
  /** Absolute paths; by default what an attempt folder usually holds. */
  readonly activity?: readonly string[];
  /** Some activity was seen since the last look. */
  readonly onOutput?: () => void;
}

export type Followed =
  /** `stopped`: the word of a stopProgram before its end, null where it ended by itself. Leftovers are ended already. */
  | { readonly type: "exited"; readonly code: number; readonly stopped: string | null }
  /** For these the program still runs: stopProgram ends it. */
  | { readonly type: "timed-out" }
  | { readonly type: "idle" }
  | { readonly type: "aborted" }
  /** The shim is gone without a word, or had to end the program because nobody followed it; the rest of its tree is ended already. */
  | { readonly type: "lost" };

/** Watchers lose events and laptops sleep: this often it is looked at without being woken. */
const lookMs = 2000;
/** A shim counts from its own start: what ends before this needs no lease, and a new file takes long on many a disk. */
const firstMs = 500;
const usualFiles = ["stdout.log", "stderr.log", "transcript.jsonl", "result.json"];

/** Follows a program to its end, keeping its lease; the same whether this process started it or an earlier one did. */
export async function followProgram(folder: string, options: Follow): Promise<Followed> {
  const attempt = attemptOf(folder);
  const own = ownShim(attempt);
  const bell = new Bell(attempt, options.signal);
  const idle = new IdleWatch(options.activity ?? usualFiles.map((name) => join(attempt.folder, name)));
  try {
    for (let waitMs = own === null ? lookMs : firstMs; ; waitMs = lookMs) {
      // Our own shim tells its end; until then there is nothing to find out.
      const ended = ownShim(attempt) === null ? await endOf(attempt, own) : null;
      if (ended !== null) return ended;
      if (options.signal.aborted) return { type: "aborted" };
      const left = (options.timeoutAt ?? Number.POSITIVE_INFINITY) - Date.now();
      if (left <= 0) return { type: "timed-out" };
      if (waitMs !== firstMs) {
        touchLease(attempt);
        if (idle.look()) options.onOutput?.();
      }
      if (idle.quietMs >= (options.idleSeconds ?? Number.POSITIVE_INFINITY) * 1000) return { type: "idle" };
      await bell.next(Math.min(waitMs, left));
    }
  } finally {
    bell.close();
  }
}

async function endOf(attempt: Attempt, own: OwnShim | null): Promise<Followed | null> {
  const found = findAttempt(attempt);
  if (found.state === "running") return null;
  if (found.state === "ended") {
    await endRest(attempt, own);
    if (isOrphaned(attempt)) return { type: "lost" };
    return { type: "exited", code: found.exit, stopped: readStopMark(attempt) };
  }
  await endLost(attempt);
  return { type: "lost" };
}

/** At once, unless somebody stops it: what it left has the grace too. */
async function endRest(attempt: Attempt, own: OwnShim | null): Promise<void> {
  if (isTreeClaimed(attempt)) return endClaimed(attempt);
  // One of another process may have been there before ours.
  const isOwn = own !== null && readPid(attempt) === own.pid();
  await reapLeftovers(attempt, isOwn ? own.since : null);
}

/** Rings when there is a reason to look: the shim ended, its exit was written, an abort, or time. */
class Bell {
  readonly #attempt: Attempt;
  readonly #signal: AbortSignal;
  #watcher: FSWatcher | null | undefined;
  #ring: () => void = () => undefined;
  #rung = false;

  constructor(attempt: Attempt, signal: AbortSignal) {
    this.#attempt = attempt;
    this.#signal = signal;
    signal.addEventListener("abort", this.#wake);
    ownShim(attempt)?.onEnd(this.#wake);
  }

  #wake = (): void => {
    this.#rung = true;
    this.#ring();
  };

  async next(withinMs: number): Promise<void> {
    // A shim of another process, also one that was quicker than ours, is known by its files alone. What happened before
    // there was a watcher is seen by looking once more.
    if (this.#watcher === undefined && ownShim(this.#attempt) === null) {
      this.#watcher = watchFolder(this.#attempt.folder, this.#wake);
      return;
    }
    if (!this.#rung) await this.#wait(withinMs);
    this.#rung = false;
  }

  async #wait(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#ring = resolve;
      timer = setTimeout(resolve, withinMs);
    });
    clearTimeout(timer);
  }

  close(): void {
    this.#signal.removeEventListener("abort", this.#wake);
    this.#watcher?.close();
  }
}

/** null where the system has no watcher left: looking now and then remains. */
function watchFolder(folder: string, onExit: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, (_event, name) => {
      if (name === null || name === "exit") onExit();
    });
    return watcher.on("error", () => watcher.close());
  } catch (error) {
    if (["ENOSPC", "EMFILE", "ENOENT", "ENOSYS"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

/** How long nothing has happened, counting awake time: a gap between two looks is never more than two looks long. */
class IdleWatch {
  quietMs = 0;
  readonly #files: readonly string[];
  #seen: string | null = null;
  #lookedAt = Date.now();

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** Whether there was activity since the last look. */
  look(): boolean {
    const state = this.#files.map(stateOf).join(" ");
    const active = state !== this.#seen;
    const now = Date.now();
    this.quietMs = active ? 0 : this.quietMs + Math.min(Math.max(0, now - this.#lookedAt), 2 * lookMs);
    this.#seen = state;
    this.#lookedAt = now;
    return active;
  }
}

function stateOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "-" : `${stats.size}/${stats.mtimeMs}`;
}
