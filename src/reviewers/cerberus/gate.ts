import { isFindingLike, readFindingPriority } from "../finding-priority.js";

/**
 * What `cerberus wait --json` answers, and the reviewers' own files below its state folder. The verdict is a word of
 * theirs; ours is pass or fail, and the findings decide. Whatever says neither is no verdict, with the reason.
 */
export type Gate =
  | { readonly type: "verdict"; readonly verdict: "pass" | "fail"; readonly iteration: number }
  /** A person is asked for: it is a fail where something bad was found, and else no verdict. */
  | { readonly type: "undecided"; readonly iteration: number; readonly reason: string }
  | { readonly type: "none"; readonly reason: string };

type Fields = Readonly<Record<string, unknown>>;

export function readGate(answer: unknown): Gate {
  if (!isFields(answer)) return { type: "none", reason: "the answer of cerberus wait is not a JSON object" };
  if (answer.status !== "resolved") return { type: "none", reason: notResolved(answer.status) };
  const word = typeof answer.verdict === "string" ? answer.verdict.toLowerCase() : "";
  const iteration = Number.isSafeInteger(answer.current_iteration) ? Number(answer.current_iteration) : 0;
  switch (word) {
    case "pass":
    case "needs_work":
      return { type: "verdict", verdict: "pass", iteration };
    case "fail":
      return { type: "verdict", verdict: "fail", iteration };
    case "requires_decision":
      return { type: "undecided", iteration, reason: undecided(answer.resolution_reason) };
    default:
      return { type: "none", reason: noVerdict(answer.verdict) };
  }
}

function notResolved(status: unknown): string {
  return status === undefined
    ? "the answer of cerberus wait has no status"
    : `the review is ${show(status)}, not resolved`;
}

function noVerdict(given: unknown): string {
  return given === undefined
    ? "the answer of cerberus wait has no verdict"
    : `${show(given)} is no verdict of cerberus wait: pass, needs_work, fail, requires_decision`;
}

function undecided(why: unknown): string {
  const asks = "cerberus asks for a person's decision";
  return typeof why === "string" && why !== "" ? `${asks}: ${why}` : asks;
}

/** With findings that do not block, a fail would be a pass; what was asked for is a person. */
export function isBad(finding: unknown): boolean {
  if (!isFields(finding)) return false;
  const reading = readFindingPriority(finding, "fail");
  return reading.type === "priority" && reading.priority !== null && reading.priority <= 1;
}

/**
 * The findings of the last iteration that the answer itself carries, wherever in it they stand: a place that nobody told
 * us of must not make a pass of them. What stands where findings belong and is none is handed on, for the verdict to be refused.
 */
export function findingsIn(answer: unknown): readonly unknown[] {
  if (!isFields(answer)) return [];
  const found = withinMembers(answer, toNumber(answer.current_iteration));
  // Those of an iteration often stand beside all of them.
  const kept = new Map(found.map((each) => [JSON.stringify(each), each]));
  return [...kept.values()];
}

interface Place {
  readonly key: string;
  /** Findings belong here, whatever they are sorted by. */
  readonly inFindings: boolean;
  /** The number of the last iteration; null: nobody said. */
  readonly current: number | null;
}

function within(value: unknown, place: Place): unknown[] {
  const { key, inFindings, current } = place;
  if (Array.isArray(value)) {
    return lastOfList(value, place).flatMap((each) => {
      if (isFields(each)) return ofEntry(each, place);
      return inFindings && !Array.isArray(each) ? [each] : within(each, place);
    });
  }
  if (!isFields(value)) return inFindings && (value ?? null) !== null ? [value] : [];
  if (isFindingLike(value)) return [toFinding(value)];
  const isByNumber = byIteration.test(key) && Object.keys(value).every((name) => numberIn(name) !== null);
  if (!isByNumber) return inFindings ? ofSorted(value, current) : withinMembers(value, current);
  return lastOfNumbered(value, current).flatMap((each) => {
    const isPlace = inFindings || Array.isArray(each) || /findings/i.test(key);
    return within(each, { key: "findings", inFindings: isPlace, current });
  });
}

const byIteration = /^findings$|iteration/i;

function withinMembers(map: Fields, current: number | null): unknown[] {
  return Object.entries(map).flatMap(([key, value]) => within(value, { key, inFindings: isFindingsKey(key), current }));
}

function isFindingsKey(key: string): boolean {
  return key.toLowerCase() === "findings";
}

/** A map where findings belong: they are below it, sorted by something; where none are, what else it says is all there is. */
function ofSorted(map: Fields, current: number | null): unknown[] {
  if (Object.keys(map).some(isFindingsKey)) return withinMembers(map, current);
  const below = Object.entries(map).filter(([, value]) => typeof value === "object" && value !== null);
  const found = below.flatMap(([key, value]) => within(value, { key, inFindings: true, current }));
  const plain = Object.values(map).filter((value) => typeof value !== "object");
  if (found.length > 0) return found;
  // How many there are may stand beside them.
  return below.length > 0 ? plain.filter((value) => typeof value === "string") : plain;
}

/** An entry of a list: a finding, or something that has findings in it, such as an iteration or one of the reviewers. */
function ofEntry(entry: Fields, { inFindings, current }: Place): unknown[] {
  if (isFindingLike(entry)) return [toFinding(entry)];
  const inside = withinMembers(entry, current);
  const isIteration =
    Object.keys(entry).some(isFindingsKey) || (numberOf(entry, "iterations") !== null && !("title" in entry));
  return inFindings && inside.length === 0 && !isIteration ? [toFinding(entry)] : inside;
}

/** A list's entries, without those of earlier iterations. */
function lastOfList(list: readonly unknown[], { key, current }: Place): readonly unknown[] {
  const numbers = list.map((each) => (isFields(each) ? numberOf(each, key) : null));
  const known = numbers.filter((number) => number !== null);
  const areFindings = list.some((each) => isFields(each) && (isFindingLike(each) || "title" in each));
  if (known.length === 0) return key === "iterations" && !areFindings ? list.slice(-1) : list;
  // Findings and a history may have none of the last iteration; iterations without it are counted in another way than we know.
  const isOfAll = /^iterations$/i.test(key) || known.includes(0);
  const highest = Math.max(...known);
  const isLast = current !== null && (areFindings || known.includes(current) || (!isOfAll && highest < current));
  const newest = isLast ? current : highest;
  return list.filter((_each, index) => numbers[index] === null || numbers[index] === newest);
}

/** All of them where the last iteration is not among the numbers: they may number something else. */
function lastOfNumbered(map: Fields, current: number | null): readonly unknown[] {
  const numbers = Object.keys(map).map((name) => numberIn(name) ?? 0);
  const last = current ?? Math.max(...numbers);
  const isThere = numbers.includes(last);
  return Object.values(map).filter((_each, index) => !isThere || numbers[index] === last);
}

/** Of an iteration, in its name: `2`, `iteration_2`. Another word may number reviewers or rounds. */
function numberIn(name: string): number | null {
  return toNumber(/^(?:it(?:er(?:ation)?)?[\s_.#-]*)?(\d+)$/i.exec(name)?.[1]);
}

/** `number` may be that of a finding or a reviewer. */
function numberOf(fields: Fields, key: string): number | null {
  return toNumber(fields.iteration ?? (/iteration/i.test(key) && !isFindingLike(fields) ? fields.number : null));
}

function toNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : null;
}

/** One reviewer's file of the last round; null: it is not what a reviewer writes. */
export function findingsOfReviewer(output: unknown, reviewer: string): readonly unknown[] | null {
  if (!isFields(output) || !Array.isArray(output.findings ?? [])) return null;
  return findingsIn(output).map((finding) => (isFields(finding) ? { reviewer, ...finding } : finding));
}

/** Theirs is called file_path; all the rest is read like every reviewer's. */
function toFinding({ file_path, ...finding }: Fields): Fields {
  return { ...finding, file: finding.file ?? file_path };
}

/** What all of its reviewers used; null: it does not say. */
export function usageOf(telemetry: unknown): Fields | null {
  if (!isFields(telemetry) || !isFields(telemetry.total_tokens)) return null;
  const { input, output } = telemetry.total_tokens;
  return { input_tokens: input, output_tokens: output, cost_usd: telemetry.total_cost_usd };
}

function show(value: unknown): string {
  return JSON.stringify(value).slice(0, 80);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
