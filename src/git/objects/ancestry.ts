import { keepNewest } from "../../lib/keep-newest.js";

/**
 * Which commits contain which, as far as this process has made or proven it: a merge contains its parents. Commits do not
 * change, so what is known holds for good; what is not known is git's to say. The newest are kept.
 */
const inside = new Map<string, readonly string[]>();
const kept = 5000;
const stepsAtMost = 500;

export function rememberContained(commit: string, contained: readonly string[]): void {
  inside.set(commit, [...(inside.get(commit) ?? []), ...contained]);
  keepNewest(inside, kept);
}

/** False: it is not known. */
export function isKnownInside(ancestor: string, descendant: string): boolean {
  const seen = new Set([descendant]);
  // A set hands out what is added while it is walked.
  for (const commit of seen) {
    if (commit === ancestor) return true;
    if (seen.size > stepsAtMost) return false;
    for (const one of inside.get(commit) ?? []) seen.add(one);
  }
  return false;
}
