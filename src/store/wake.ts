import { type FSWatcher, utimesSync, watch } from "node:fs";

/** Watchers lose events now and then: this often it is looked whether somebody else has committed anything. */
const safetyLookMs = 2000;
/** Touches closer together than this are one: a busy run has us told of our own, too, and have somebody look each time. */
const quietMs = 100;

/** One listener's bell. It remembers a ring that came while nobody waited, so nothing slips between a look and the wait after it. */
export interface Bell {
  /** Resolves once something was committed since the last time, or when aborted. */
  rung(abort: AbortSignal): Promise<void>;
  close(): void;
}

/** What somebody waits for: a signal, an event of a run, a change on the board. */
export type News = "signal" | "event" | "board";

/**
 * Wake-up between processes: a file touched after each commit and watched by whoever waits for one. It says only "look
 * again"; what is new is read from the database. Our own commits say what they brought and ring those alone who wait
 * for that, and the touches we see of our own ring nobody: else every commit of one life would have all others look.
 */
export class Wake {
  readonly #path: string;
  readonly #othersCommitted: () => boolean;
  readonly #bells = new Map<() => void, News>();
  #watcher: FSWatcher | null = null;
  #safety: NodeJS.Timeout | null = null;
  #touchedAt = 0;
  #late: NodeJS.Timeout | null = null;

  /** `othersCommitted`: whether another process has committed anything since it was last asked. */
  constructor(path: string, othersCommitted: () => boolean) {
    this.#path = path;
    this.#othersCommitted = othersCommitted;
  }

  /** We have committed something. */
  touch(...news: readonly News[]): void {
    this.#ring((wanted) => news.includes(wanted));
    const now = performance.now();
    const leftMs = this.#touchedAt + quietMs - now;
    if (leftMs <= 0) this.#touchFile(now);
    else this.#late ??= setTimeout(() => this.#touchFile(performance.now()), leftMs);
  }

  listen(wanted: News): Bell {
    let rang = false;
    let wake: (() => void) | null = null;
    const ring = () => {
      rang = true;
      wake?.();
    };
    this.#bells.set(ring, wanted);
    this.#watch();
    this.#safety ??= setInterval(() => this.#heard(), safetyLookMs);
    return {
      rung: async (abort) => {
        if (!rang) await waitFor(abort, (resolve) => (wake = resolve));
        wake = null;
        rang = false;
      },
      close: () => {
        this.#bells.delete(ring);
        if (this.#bells.size === 0) this.#rest();
      },
    };
  }

  close(): void {
    if (this.#late !== null) this.#touchFile(performance.now());
    this.#rest();
  }

  #rest(): void {
    if (this.#safety !== null) clearInterval(this.#safety);
    this.#safety = null;
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

  #ring(meant: (wanted: News) => boolean): void {
    for (const [ring, wanted] of this.#bells) if (meant(wanted)) ring();
  }

  #heard(): void {
    let isNew = true;
    try {
      isNew = this.#othersCommitted();
    } catch {
      // Whoever looks now meets the same error, and can tell somebody.
    }
    if (isNew) this.#ring(() => true);
  }

  #watch(): void {
    if (this.#watcher !== null) return;
    try {
      this.#watcher = watch(this.#path, { persistent: false }, () => this.#heard());
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
      abort.removeEventListener("abort", done);
      resolve();
    };
    wakeBy(done);
    if (abort.aborted) done();
    else abort.addEventListener("abort", done);
  });
}
