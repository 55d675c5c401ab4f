import type { Finding, OtherReport, Remark } from "../finding.js";
import {
  findingId,
  isNear,
  isSameTitle,
  isSameWords,
  isSimilarTitle,
  lineDistance,
  namesOthers,
  type Place,
} from "./identity.js";
import { basesOf, type KnownFindings, Places, push } from "./known.js";
import { isSettledOpinion, reportsOf } from "./reports.js";
import type { Visit } from "./visit.js";
import { isSameText, wordsOf } from "./words.js";

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

/** What of a group is about the finding that its first remark is about. What has one of its own keeps that. */
export function splitGroup(candidates: Candidates, group: Group, known: Finding) {
  if (group.length === 1) return { about: group, others: null };
  const isAbout = ({ remark }: Sighting) => {
    // It was settled in the words that were decided on: another reviewer's are about something else.
    if (isSettledOpinion(known)) return wordsOf(known).some((words) => isSameWords(words, remark));
    const own = family({ ...candidates, remark });
    return own.includes(known) || !own.some((one) => one.status === "open" && isNearIt(one, remark));
  };
  return { about: toGroup(group.filter(isAbout)), others: toGroup(group.filter((one) => !isAbout(one))) };
}

function toGroup([first, ...others]: readonly Sighting[]): Group | null {
  return first ? [first, ...others] : null;
}

/** Findings that may be what a remark of this visit is about. */
export interface Candidates {
  readonly known: KnownFindings;
  /** No other remark of the visit is about it. */
  readonly isFree: (finding: Finding) => boolean;
  readonly visit: Visit;
  readonly remark: Remark;
  /** All remarks of the visit of which nothing surer is known, itself too. */
  readonly rivals: Rivals;
  /** Nothing surer is known of it either. */
  readonly isLeft: (finding: Finding) => boolean;
}

/** The finding with the remark's own id, place and words. */
export function matchSame(candidates: Candidates): Finding | null {
  const { remark } = candidates;
  const isHere = (words: OtherReport) => words.line_start === remark.line_start && words.line_end === remark.line_end;
  const same = nearOf(candidates).find((finding) =>
    wordsOf(finding).some((words) => isHere(words) && isSameText(words, remark)),
  );
  return same ?? null;
}

/**
 * The finding with the remark's own id and words, wherever it is by now: both alone have these words. What is settled was
 * settled for those who had reported it.
 */
export function matchMoved(candidates: Candidates): Finding | null {
  const { visit, remark, rivals } = candidates;
  const sameIds = rivals.of(baseId(visit, remark));
  if (remark.body.text.trim() === "" || sameIds.filter((rival) => isSameText(rival, remark)).length > 1) return null;
  const [moved, ...others] = family(candidates).filter((finding) =>
    wordsOf(finding).some((words) => isSameText(words, remark)),
  );
  if (!moved || others.length > 0) return null;
  if (isNearIt(moved, remark)) return moved;
  const isHis = !isSettledOpinion(moved) || moved.reviewers.includes(remark.reviewer ?? visit.reviewer);
  return isHis && canBeElsewhere(moved, visit) ? moved : null;
}

/** The finding with the remark's own id that alone is near, and that no other remark is near: code has moved a little. */
export function matchPair(candidates: Candidates): Finding | null {
  const { visit, remark, rivals } = candidates;
  const [near, ...others] = nearOf(candidates);
  // Whether that one is meant depends on what the others are about.
  if (!near || others.length > 0 || isSettledOpinion(near)) return null;
  const base = baseId(visit, remark);
  const isRival = (one: Remark) => one !== remark && baseId(visit, one) === base && isNearIt(near, one);
  return wordsOf(near).some((words) => rivals.near(words).some(isRival)) ? null : near;
}

/** The finding with the remark's own id that is near. */
export function matchNear(candidates: Candidates): Finding | null {
  const near = nearOf(candidates);
  const meant = near.filter((finding) => !isSettledOpinion(finding) || isAboutSettled(finding, candidates));
  return nearest(meant, candidates.remark);
}

/**
 * The finding with the remark's own id somewhere else: open before closed. None that is settled, nobody would hear of it;
 * and where that one may be meant, no other closed one.
 */
export function matchElsewhere(candidates: Candidates): Finding | null {
  const { visit, remark } = candidates;
  const all = family(candidates);
  const own = all.filter((finding) => canBeElsewhere(finding, visit) && !isSettledOpinion(finding));
  const open = own.filter(({ status }) => status === "open");
  return nearest(open, remark) ?? (all.some(isSettledOpinion) ? null : nearest(own, remark));
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
        isAnothers(finding, visit) &&
        reportsOf(finding).some((report) => report.stage === finding.stage) &&
        isNear(finding, remark) &&
        isSimilarTitle(finding, remark),
    );
  return nearest(alike, remark);
}

/** Members of a panel may share a stage. */
function isAnothers({ stage, authors }: Finding, visit: Visit): boolean {
  if (stage !== visit.stage) return true;
  return visit.author !== undefined && authors !== undefined && !authors.includes(visit.author);
}

/** A settled finding that says the same at the same place; alike is not enough where nobody would look again. */
export function matchWords(candidates: Candidates): Finding | null {
  const { known, isFree, visit, remark } = candidates;
  const same = known
    .near(remark)
    .filter(
      (finding) =>
        isFree(finding) &&
        finding.source === visit.source &&
        isSettledOpinion(finding) &&
        wordsOf(finding).some((words) => isNear(words, remark) && isSameWords(words, remark)) &&
        isAboutSettled(finding, candidates),
    );
  return nearest(same, remark);
}

export function newId(known: KnownFindings, visit: Visit, remark: Remark): string {
  return known.takeId(baseId(visit, remark));
}

interface Rivals {
  /** By what their ids begin with. */
  readonly of: (base: string) => readonly Remark[];
  /** Those that may be near. */
  readonly near: (place: Place) => readonly Remark[];
}
export function rivalsIn(visit: Visit, groups: readonly Group[]): Rivals {
  const remarks = groups.map(([{ remark }]) => remark);
  const places = new Places();
  const byBase = new Map<string, Remark[]>();
  for (const [at, remark] of remarks.entries()) {
    places.add(remark, at);
    push(byBase, baseId(visit, remark), remark);
  }
  return {
    of: (base) => byBase.get(base) ?? [],
    near: (place) => places.near(place).flatMap((at) => remarks[at] ?? []),
  };
}

function family({ known, isFree, visit, remark }: Candidates): Finding[] {
  return known.family(baseId(visit, remark)).filter(isFree);
}

function nearOf(candidates: Candidates): Finding[] {
  const { known, isFree, visit, remark } = candidates;
  return known
    .nearIn(baseId(visit, remark), remark)
    .filter(
      (finding) =>
        isFree(finding) &&
        isNearIt(finding, remark) &&
        (canBeElsewhere(finding, visit) || !namesOthers(finding, remark)),
    );
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
  const { remark, reviewer } = sighting;
  const isSame = (one: Remark) => isNear(one, remark) && baseId(visit, one) === baseId(visit, remark);
  const own = group.filter((one) => one.reviewer === reviewer);
  if (own.length > 0) return own.some((one) => isSame(one.remark) && isSameText(one.remark, remark));
  return group.some((one) => isSame(one.remark) && !namesOthers(one.remark, remark));
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

/** Nearest, then first raised. */
function nearest(findings: readonly Finding[], remark: Remark): Finding | null {
  const ranked = findings.map((finding) => ({ finding, distance: distanceOf(finding, remark) }));
  ranked.sort((a, b) => a.distance - b.distance);
  return ranked[0]?.finding ?? null;
}

/** Where those see it who call it so. */
function placesOf(finding: Finding, remark: Remark): readonly OtherReport[] {
  const words = wordsOf(finding);
  const own = words.length > 1 ? words.filter((one) => isSameTitle(one, remark)) : words;
  return own.length > 0 ? own : words.slice(0, 1);
}

function isNearIt(finding: Finding, remark: Remark): boolean {
  const isHere = (place: OtherReport) => isNear(place, remark);
  return wordsOf(finding).some(isHere) && placesOf(finding, remark).some(isHere);
}

function distanceOf(finding: Finding, remark: Remark): number {
  return Math.min(...placesOf(finding, remark).map((place) => lineDistance(place, remark)));
}

/** Not another reviewer's, which may be about something else. */
function canBeElsewhere(finding: Finding, { stage, author }: Visit): boolean {
  if (finding.status !== "open") return true;
  const isHis = author === undefined || (finding.authors?.includes(author) ?? true);
  return isHis && [finding, ...reportsOf(finding)].some((report) => report.stage === stage);
}

/** Near a settled finding: nothing else near it may be meant by it, nor by the remark anything else that is open or as near. */
function isAboutSettled(finding: Finding, { known, rivals, visit, remark, isLeft }: Candidates): boolean {
  const bases = basesOf(finding);
  const isRival = (one: Remark) => bases.includes(baseId(visit, one)) && isNearIt(finding, one);
  const near = new Set(wordsOf(finding).flatMap((words) => rivals.near(words).filter(isRival)));
  const others = bases.flatMap((base) => known.family(base)).filter(isLeft);
  const isMeant = (other: Finding) =>
    other.status === "open"
      ? canBeElsewhere(other, visit)
      : !isSettledOpinion(other) && distanceOf(other, remark) <= distanceOf(finding, remark);
  return near.size <= 1 && !others.some(isMeant);
}
