import type { StageKind } from "../graph.js";

/** What is asked of the graph while looking for joins. */
export interface Wiring {
  readonly kindOf: (id: string) => StageKind | null;
  /** Where a stage may lead, in the order of the file. */
  readonly next: (id: string) => readonly string[];
  /** A join that a parallel stage names itself. */
  readonly named: (id: string) => string | null;
  /** How many stages and edges there are: the search is bounded by it. */
  readonly size: number;
}

/**
 * Finds the join of each parallel stage: the nearest one that all of its branches lead to. A search stays within its
 * block: it ends at joins, and goes around an inner parallel stage to that one's own join. So blocks cost their own size;
 * in a graph that is no such blocks the search gives up after a bounded number of steps, and the join must be named.
 */
export class JoinFinder {
  private readonly wiring: Wiring;
  private readonly found = new Map<string, string | null>();
  private readonly searching = new Set<string>();
  private stepsLeft: number;

  constructor(wiring: Wiring) {
    this.wiring = wiring;
    this.stepsLeft = 10_000 + 10 * wiring.size;
  }

  joinOf(parallel: string): string | null {
    const known = this.found.get(parallel);
    if (known !== undefined) return known;
    // A loop back to a block that is being searched leads nowhere new; blocks nested beyond reason are not followed.
    if (this.searching.has(parallel) || this.searching.size > 200) return null;
    this.searching.add(parallel);
    const join = this.wiring.named(parallel) ?? this.search(parallel);
    this.searching.delete(parallel);
    this.found.set(parallel, join);
    return join;
  }

  private search(parallel: string): string | null {
    const branches = this.wiring.next(parallel);
    const shared = new Map<string, { branches: number; distance: number }>();
    for (const branch of branches) {
      for (const [join, distance] of this.joinsFrom(branch)) {
        const before = shared.get(join) ?? { branches: 0, distance: 0 };
        shared.set(join, { branches: before.branches + 1, distance: Math.max(before.distance, distance) });
      }
    }
    let best: { readonly join: string; readonly distance: number } | null = null;
    for (const [join, { branches: count, distance }] of shared)
      if (count === branches.length && (best === null || distance < best.distance)) best = { join, distance };
    return best?.join ?? null;
  }

  /** The joins where a branch may end, each with its distance. */
  private joinsFrom(branch: string): Map<string, number> {
    const joins = new Map<string, number>();
    const seen = new Set([branch]);
    let front = [branch];
    for (let distance = 0; front.length > 0; distance++) {
      const following: string[] = [];
      for (const id of front) {
        if (this.stepsLeft-- <= 0) return joins;
        if (this.wiring.kindOf(id) === "join") {
          joins.set(id, distance);
          continue;
        }
        for (const next of this.after(id)) {
          if (seen.has(next)) continue;
          seen.add(next);
          following.push(next);
        }
      }
      front = following;
    }
    return joins;
  }

  private after(id: string): readonly string[] {
    if (this.wiring.kindOf(id) !== "parallel") return this.wiring.next(id);
    const inner = this.joinOf(id);
    return inner === null ? [] : this.wiring.next(inner);
  }
}
