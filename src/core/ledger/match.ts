import type { Finding, Remark } from "../finding.js";
import { findingId, isNear, isSameWords, isSimilarTitle, lineDistance } from "./identity.js";
import { type KnownFindings, Places } from "./known.js";
import { isSettledOpinion, reportsOf } from "./reports.js";
import type { Visit } from "./visit.js";

/**
 * Which finding a remark is about. Merging hides the second text, so it is done only where nothing can be lost: one
 * reviewer's two remarks of one visit stay two findings (`<id>`, `<id>-2`, …) unless they say the same at the same place.
 */
export interface Sighting {
  readonly remark: Remark;
  readonly reviewer: string;
}
/** Remarks of one visit about one defect, the first reporter's first. */
export type Group = readonly [Sighting, ...Sighting[]];

export function groupRemarks(visit: Visit): Group[] {
  const groups: Group[] = [];
  const places = new Places();
  for (const remark of visit.remarks) {
    const sighting = { remark, reviewer: remark.reviewer ?? visit.reviewer };
    const near = places.near(remark);
    const find = (isOne: typeof isTwin) => near.find((at) => groups[at] && isOne(visit, groups[at], sighting));
    const at = find(isTwin) ?? find(isAlike) ?? groups.length;
    places.add(remark, at);
    const [first, ...others] = groups[at] ?? [];
    groups[at] = first ? [first, ...others, sighting] : [sighting];
  }
  return groups;
}

/** Findings that may be what a remark of this visit is about. */
export interface Candidates {
  readonly known: KnownFindings;
  /** No other remark of the visit is about it. */
  readonly isFree: (finding: Finding) => boolean;
  readonly visit: Visit;
  readonly remark: Remark;
}

/** The finding with the remark's own id, place and words. */
export function matchSame(candidates: Candidates): Finding | null {
  const { title, body, line_start, line_end } = candidates.remark;
  const same = family(candidates).find(
    (finding) =>
      finding.title === title &&
      finding.body.text === body.text &&
      finding.line_start === line_start &&
      finding.line_end === line_end,
  );
  return same ?? null;
}

/** The finding with the remark's own id, if that is what it is about: not another reviewer's somewhere else. */
export function matchExact(candidates: Candidates): Finding | null {
  const { visit, remark } = candidates;
  return best(family(candidates), remark, (finding) => {
    if (isNear(finding, remark)) return 0;
    if (finding.status !== "open") return 2;
    return finding.stage === visit.stage ? 1 : null;
  });
}

/** Another reviewer's open finding that says the same in other words at the same place, as long as that one reports it. */
export function matchSimilar({ known, isFree, visit, remark }: Candidates): Finding | null {
  if (!canBeReworded(visit)) return null;
  const alike = known
    .near(remark)
    .filter(
      (finding) =>
        isFree(finding) &&
        finding.status === "open" &&
        finding.source === visit.source &&
        finding.stage !== visit.stage &&
        reportsOf(finding).some((report) => report.stage === finding.stage) &&
        isNear(finding, remark) &&
        isSimilarTitle(finding, remark),
    );
  return best(alike, remark, () => 0);
}

/** A settled finding that says the same at the same place; alike is not enough where nobody would look again. */
export function matchWords({ known, isFree, visit, remark }: Candidates): Finding | null {
  const same = known
    .near(remark)
    .filter(
      (finding) =>
        isFree(finding) &&
        finding.source === visit.source &&
        isSettledOpinion(finding) &&
        isNear(finding, remark) &&
        isSameWords(finding, remark),
    );
  return best(same, remark, () => 0);
}

export function newId(known: KnownFindings, visit: Visit, remark: Remark): string {
  return known.takeId(baseId(visit, remark));
}

function family({ known, isFree, visit, remark }: Candidates): Finding[] {
  return known.family(baseId(visit, remark)).filter(isFree);
}

/** A remark is compared with every other of its visit: its id is worked out once. */
const knownIds = new WeakMap<Remark, { readonly source: Visit["source"]; readonly id: string }>();

function baseId({ source }: Visit, remark: Remark): string {
  const known = knownIds.get(remark);
  if (known?.source === source) return known.id;
  const id = findingId({ file: remark.file, title: remark.title, source });
  knownIds.set(remark, { source, id });
  return id;
}

/** Facts (commands, CI, comments with an author to answer) are never alike, only the same. */
function canBeReworded(visit: Visit): boolean {
  return visit.source === "review";
}

function isTwin(visit: Visit, group: Group, sighting: Sighting): boolean {
  return group.some(({ remark, reviewer }) => {
    if (!isNear(remark, sighting.remark) || baseId(visit, remark) !== baseId(visit, sighting.remark)) return false;
    if (reviewer !== sighting.reviewer) return true;
    return remark.title.trim() === sighting.remark.title.trim() && remark.body.text === sighting.remark.body.text;
  });
}

/** Two reviewers' words for one defect within one visit. */
function isAlike(visit: Visit, group: Group, { remark, reviewer }: Sighting): boolean {
  const first = group[0].remark;
  return (
    canBeReworded(visit) &&
    !group.some((other) => other.reviewer === reviewer) &&
    isNear(first, remark) &&
    isSimilarTitle(first, remark)
  );
}

/** Lowest rank, then nearest, then first raised; a null rank is no match. */
function best(findings: readonly Finding[], remark: Remark, rank: (finding: Finding) => number | null): Finding | null {
  const ranked = findings.flatMap((finding) => {
    const value = rank(finding);
    return value === null ? [] : [{ finding, value, distance: lineDistance(finding, remark) }];
  });
  ranked.sort((a, b) => a.value - b.value || a.distance - b.distance);
  return ranked[0]?.finding ?? null;
}
