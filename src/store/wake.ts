import { type FSWatcher, utimesSync, watch } from "node:fs";

/** Watchers lose events now and then: whoever waits looks again after this long. */
const safetyLookMs = 2000;
/** Touches closer together than this are one. */
const quietMs = 10;

/** One listener's bell. It remembers a ring that came while nobody waited, so nothing slips between a look and the wait after it. */
export interface Bell {
  /** Resolves once something was committed since the last time, after the safety look's time, or when aborted. */
  rung(abort: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * Wake-up between processes: a file touched after each commit and watched by whoever waits for one. It says only "look
 * again"; what is new is read from the database.
 */
export class Wake {
  readonly #path: string;
  readonly #bells = new Set<() => void>();
  #watcher: FSWatcher | null = null;
  #touchedAt = 0;
  #late: NodeJS.Timeout | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Something was committed. */
  touch(): void {
    this.#ringAll();
    const now = performance.now();
    if (now - this.#touchedAt >= quietMs) this.#touchFile(now);
    else this.#late ??= setTimeout(() => this.#touchFile(performance.now()), quietMs);
  }

  listen(): Bell {
    let rang = false;
    let wake: (() => void) | null = null;
    const ring = () => {
      rang = true;
      wake?.();
    };
    this.#bells.add(ring);
    this.#watch();
    return {
      rung: async (abort) => {
        if (!rang) await waitFor(abort, (resolve) => (wake = resolve));
        wake = null;
        rang = false;
      },
      close: () => {
        this.#bells.delete(ring);
        if (this.#bells.size === 0) this.#unwatch();
      },
    };
  }

  close(): void {
    if (this.#late !== null) this.#touchFile(performance.now());
    this.#unwatch();
  }

  #touchFile(now: number): void {
    if (this.#late !== null) clearTimeout(this.#late);
    this.#late = null;
    this.#touchedAt = now;
    try {
      utimesSync(this.#path, new Date(), new Date());
    } catch {
      // The file was taken away: waiters fall back to their safety look.
    }
  }

  #ringAll(): void {
    for (const ring of this.#bells) ring();
  }

  #watch(): void {
    if (this.#watcher !== null) return;
    try {
      this.#watcher = watch(this.#path, { persistent: false }, () => this.#ringAll());
      this.#watcher.on("error", () => this.#unwatch());
    } catch {
      // No watcher to be had here: the safety look remains.
      this.#watcher = null;
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }
}

function waitFor(abort: AbortSignal, wakeBy: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      abort.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, safetyLookMs);
    wakeBy(done);
    if (abort.aborted) done();
    else abort.addEventListener("abort", done);
  });
}
