import { isFindingLike, readFindingPriority } from "../finding-priority.js";
import { plainKeys, verdictKeys } from "../verdict.js";
import { isByIteration, lastIteration, numberOf, toNumber } from "./last-iteration.js";

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
  const fields = plainKeys(answer, ["status", "verdict"]);
  if (typeof fields === "string") {
    return { type: "none", reason: `the answer of cerberus wait gives "${fields}" twice, and not the same` };
  }
  const { status, verdict } = fields;
  if (status !== "resolved") return { type: "none", reason: notResolved(status) };
  const word = typeof verdict === "string" ? verdict.toLowerCase() : "";
  const iteration = toNumber(answer.current_iteration) ?? 0;
  switch (word) {
    case "pass":
    case "needs_work":
      return { type: "verdict", verdict: "pass", iteration };
    case "fail":
      return { type: "verdict", verdict: "fail", iteration };
    case "requires_decision":
      return { type: "undecided", iteration, reason: undecided(answer.resolution_reason) };
    default:
      return { type: "none", reason: noVerdict(verdict) };
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
  const found = withinMembers(lastIteration(answer));
  // Those of an iteration often stand beside all of them.
  const kept = new Map(found.map((each) => [JSON.stringify(each), each]));
  return [...kept.values()];
}

/** All else that its last iteration says: what may be findings of a kind that we do not read must not be lost either. */
export function restOf(answer: unknown): Fields {
  return isFields(answer) ? withoutFindings(lastIteration(answer)) : {};
}

/** Nor what its reviewers decided each for himself: cerberus has weighed that. */
function withoutFindings(map: Fields): Fields {
  const left = Object.entries(map).filter(
    ([key, value]) => !verdictKeys.includes(key.toLowerCase()) && !isFinding(value),
  );
  return Object.fromEntries(left.map(([key, value]) => [key, restWithin(value)]));
}

function restWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !isFinding(each)).map(restWithin);
  return isFields(value) ? withoutFindings(value) : value;
}

function isFinding(value: unknown): boolean {
  return isFields(value) && isFindingLike(value);
}

interface Place {
  readonly key: string;
  /** Findings belong here, whatever they are sorted by. */
  readonly inFindings: boolean;
}

function within(value: unknown, place: Place): unknown[] {
  const { key, inFindings } = place;
  if (Array.isArray(value)) {
    return value.flatMap((each) => {
      if (isFields(each)) return ofEntry(each, place);
      return inFindings && !Array.isArray(each) ? [each] : within(each, place);
    });
  }
  if (!isFields(value)) return inFindings && (value ?? null) !== null ? [value] : [];
  if (isFindingLike(value)) return [toFinding(value)];
  if (!isByIteration(key, value)) return inFindings ? ofSorted(value) : withinMembers(value);
  return Object.values(value).flatMap((each) => {
    const isPlace = inFindings || Array.isArray(each) || /findings/i.test(key);
    return within(each, { key: "findings", inFindings: isPlace });
  });
}

function withinMembers(map: Fields): unknown[] {
  return Object.entries(map).flatMap(([key, value]) => within(value, { key, inFindings: isFindingsKey(key) }));
}

function isFindingsKey(key: string): boolean {
  return key.toLowerCase() === "findings";
}

/** A map where findings belong: they are below it, sorted by something; where none are, what else it says is all there is. */
function ofSorted(map: Fields): unknown[] {
  if (Object.keys(map).some(isFindingsKey)) return withinMembers(map);
  const below = Object.entries(map).filter(([, value]) => typeof value === "object" && value !== null);
  const found = below.flatMap(([key, value]) => within(value, { key, inFindings: true }));
  const plain = Object.values(map).filter((value) => typeof value !== "object");
  if (found.length > 0) return found;
  // How many there are may stand beside them.
  return below.length > 0 ? plain.filter((value) => typeof value === "string") : plain;
}

/** An entry of a list: a finding, or something that has findings in it, such as an iteration or one of the reviewers. */
function ofEntry(entry: Fields, { inFindings }: Place): unknown[] {
  if (isFindingLike(entry)) return [toFinding(entry)];
  const inside = withinMembers(entry);
  const isIteration =
    Object.keys(entry).some(isFindingsKey) || (numberOf(entry, "iterations") !== null && !("title" in entry));
  return inFindings && inside.length === 0 && !isIteration ? [toFinding(entry)] : inside;
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
