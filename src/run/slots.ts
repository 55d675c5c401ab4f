/**
 * Places for agent processes. Whoever waits for a place holds none; follow-ups, reviewers and fixers go before new
 * implementers, then in claim order. A turn that is already running when the orchestrator comes back takes its place
 * without asking, even over the limit: it cannot be unstarted. Nothing new is chosen before every life that was taken up
 * again, or whose turn has just ended, has asked for its place, or needs none.
 */
export interface Slots {
  /** Resolves once a place is free and taken; rejects with the signal's reason when aborted first. */
  acquire(request: SlotRequest): Promise<Release>;
  /** The place that was kept for the first turn of `issueId`; null: it has to be waited for. */
  takeKept(issueId: string): Release | null;
  /** Takes a place at once, whatever the limit, for a turn of `issueId`. */
  force(issueId: string): Release;
  /** A life of `issueId` is about to ask: one place fewer for new issues until it does, or drops it. */
  expect(issueId: string): void;
  /** Waits for a place for an issue that is still to be chosen; whoever was chosen before goes first. */
  reserve(signal: AbortSignal): Promise<Release>;
  /** Keeps a reserved place for the first turn of `issueId`; the next acquire in its name uses it. */
  keep(issueId: string, place: Release): void;
  /** Frees what was kept for an issue, or expected of it, that does not need it. */
  dropKept(issueId: string): void;
  /** Half as many from now on; how many, or null where a turn that began later has told of the same overload. */
  shrink(startedAt: number, now: number): number | null;
  /** One more, up to what was there at first; how many, or null where nothing changed. */
  grow(): number | null;
}
export interface SlotRequest {
  readonly issueId: string;
  /** `first`: a new implementer. */
  readonly turn: "first" | "later";
  readonly signal: AbortSignal;
}
export type Release = () => void;

/** Who is served first. */
const ranks = { later: 0, first: 1, new: 2 };

interface Waiting {
  readonly rank: number;
  readonly grant: () => void;
}

export function createSlots(most: number): Slots {
  return new Places(most);
}

class Places implements Slots {
  readonly #most: number;
  #limit: number;
  #shrunkAt = Number.NEGATIVE_INFINITY;
  #used = 0;
  readonly #waiting: Waiting[] = [];
  readonly #kept = new Map<string, Release>();
  readonly #expected = new Set<string>();

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  async acquire({ issueId, turn, signal }: SlotRequest): Promise<Release> {
    return this.takeKept(issueId) ?? (await this.#queue(ranks[turn], signal));
  }

  takeKept(issueId: string): Release | null {
    this.#expected.delete(issueId);
    const place = this.#kept.get(issueId) ?? null;
    this.#kept.delete(issueId);
    return place;
  }

  force(issueId: string): Release {
    this.#expected.delete(issueId);
    this.#used++;
    return this.#take();
  }

  expect(issueId: string): void {
    this.#expected.add(issueId);
  }

  reserve(signal: AbortSignal): Promise<Release> {
    return this.#queue(ranks.new, signal);
  }

  keep(issueId: string, place: Release): void {
    this.#kept.set(issueId, place);
  }

  dropKept(issueId: string): void {
    this.#kept.get(issueId)?.();
    this.#kept.delete(issueId);
    if (this.#expected.delete(issueId)) this.#give();
  }

  shrink(startedAt: number, now: number): number | null {
    if (startedAt <= this.#shrunkAt || this.#limit === 1) return null;
    this.#shrunkAt = now;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    return this.#limit;
  }

  grow(): number | null {
    if (this.#limit >= this.#most) return null;
    this.#limit++;
    this.#give();
    return this.#limit;
  }

  #give(): void {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const others = next.rank === ranks.new ? this.#expected.size : 0;
      if (this.#used + others >= this.#limit) return;
      this.#waiting.shift();
      this.#used++;
      next.grant();
    }
  }

  #take(): Release {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#used--;
      this.#give();
    };
  }

  #queue(rank: number, signal: AbortSignal): Promise<Release> {
    const waiting = this.#waiting;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal.reason);
      };
      const grant = () => {
        signal.removeEventListener("abort", leave);
        resolve(this.#take());
      };
      const entry: Waiting = { rank, grant };
      signal.addEventListener("abort", leave, { once: true });
      const at = waiting.findIndex((other) => other.rank > rank);
      waiting.splice(at === -1 ? waiting.length : at, 0, entry);
      this.#give();
    });
  }
}
