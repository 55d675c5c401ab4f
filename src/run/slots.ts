/**
 * Places for agent processes. Whoever waits for a place holds none; follow-ups, reviewers and fixers go before new
 * implementers, then in claim order. A turn that is already running when the orchestrator comes back takes its place
 * without asking, even over the limit: it cannot be unstarted.
 */
export interface Slots {
  /** Resolves once a place is free and taken; rejects with the signal's reason when aborted first. */
  acquire(request: SlotRequest): Promise<Release>;
  /** Takes a place at once, whatever the limit. */
  force(): Release;
  /** Waits for a place for an issue that is still to be chosen. */
  reserve(signal: AbortSignal): Promise<Release>;
  /** Keeps a reserved place for the first turn of `issueId`; the next acquire in its name uses it. */
  keep(issueId: string, place: Release): void;
  /** Frees what was kept for an issue that does not need it. */
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

interface Waiting {
  readonly rank: number;
  readonly order: number;
  readonly grant: () => void;
}

export function createSlots(most: number): Slots {
  let limit = most;
  let shrunkAt = Number.NEGATIVE_INFINITY;
  let used = 0;
  let order = 0;
  const waiting: Waiting[] = [];
  const kept = new Map<string, Release>();

  const give = () => {
    while (used < limit) {
      const next = waiting.shift();
      if (!next) return;
      used++;
      next.grant();
    }
  };
  const take = (): Release => {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      used--;
      give();
    };
  };
  const queue = (rank: number, signal: AbortSignal): Promise<Release> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal.reason);
      };
      const grant = () => {
        signal.removeEventListener("abort", leave);
        resolve(take());
      };
      const entry: Waiting = { rank, order: order++, grant };
      signal.addEventListener("abort", leave, { once: true });
      const at = waiting.findIndex((other) => other.rank > rank);
      waiting.splice(at === -1 ? waiting.length : at, 0, entry);
      give();
    });

  return {
    async acquire({ issueId, turn, signal }) {
      const place = kept.get(issueId);
      if (place) {
        kept.delete(issueId);
        return place;
      }
      return await queue(turn === "first" ? 1 : 0, signal);
    },
    force() {
      used++;
      return take();
    },
    reserve: (signal) => queue(1, signal),
    keep(issueId, place) {
      kept.set(issueId, place);
    },
    dropKept(issueId) {
      kept.get(issueId)?.();
      kept.delete(issueId);
    },
    shrink(startedAt, now) {
      if (startedAt <= shrunkAt || limit === 1) return null;
      shrunkAt = now;
      limit = Math.max(1, Math.floor(limit / 2));
      return limit;
    },
    grow() {
      if (limit >= most) return null;
      limit++;
      give();
      return limit;
    },
  };
}
