import { contradictoryKey } from "../lib/contradiction.js";
import { JsonNesting } from "../lib/json-nesting.js";
import { findObjects, isLaterInList, isListedWithAnother, isWithinAnother } from "../lib/json-objects.js";
import { findDenial } from "./denial.js";
import { findMisplaced, type Misplaced } from "./finding-places.js";
import { readFindingPriority, show } from "./finding-priority.js";
import { findingKeys, type RawFinding, toFinding, withBody } from "./raw-finding.js";

/**
 * A verdict is positive evidence: a word, and for `fail` at least one finding. Whatever is missing or unreadable is a
 * protocol failure with its reason, never a pass. Findings themselves are read tolerantly, all but the priority, which
 * decides what blocks: a reviewer that forgets a line number has still found something.
 */
export type VerdictReading =
  | { readonly type: "verdict"; readonly verdict: "pass" | "fail"; readonly findings: readonly RawFinding[] }
  | { readonly type: "protocol"; readonly reason: string };

/** As much of the end of an output is looked at. */
export const verdictBytes = 1024 * 1024;

/** What a verdict is read from: of anything else a reviewer may say two things. */
export const verdictKeys = ["verdict", "findings"];

/** What looks like the beginning of an answer, or would have become one. */
const beginning = /\{\s*(?:["']|verdict\b|$)/;

/** The end of what a reviewer said; `before`: what was left out before it, null: nothing. */
export interface Said {
  readonly text: string;
  readonly before: JsonNesting | null;
}

type Protocol = Extract<VerdictReading, { type: "protocol" }>;

/** The last JSON object of a text, with a verdict among its keys. */
interface Answer {
  readonly type: "answer";
  readonly text: string;
  readonly fields: Fields;
  /** Why a pass is not to be taken from it; null: it stands by itself. */
  whyUnclear(): string | null;
}

/** The verdict in the last JSON object of a text, whatever prose stands around it. */
export function readVerdict(said: Said): VerdictReading {
  const found = findAnswer(said);
  if (found.type === "protocol") return found;
  const key = contradictoryKey(found.text, verdictKeys);
  if (key !== null) return saidTwice(key);
  const reading = toVerdict(found.fields);
  if (reading.type !== "verdict" || reading.verdict !== "pass") return reading;
  const reason = found.whyUnclear();
  return reason === null ? reading : { type: "protocol", reason };
}

export function findAnswer(said: Said): Answer | Protocol {
  const { text: end, before } = cutToEnd(said);
  const isWhole = before === null;
  const objects = findObjects(end, "verdict");
  const last = objects.at(-1);
  if (last === undefined || !objects.some(({ hasKey }) => hasKey))
    return { type: "protocol", reason: isWhole ? "no verdict in the output" : tooLong };
  if (beginning.test(end.slice(last.end)))
    return { type: "protocol", reason: "the last JSON object of the output is broken or cut off" };
  if (!last.hasKey) return { type: "protocol", reason: "the last JSON object of the output has no verdict" };
  const text = end.slice(last.start, last.end);
  const fields = parse(text);
  if (fields === null) return { type: "protocol", reason: "the last JSON object of the output is broken" };
  if (isListedWithAnother(end, objects, last)) return { type: "protocol", reason: oneOfSeveral };
  if (before !== null && !before.isOutsideAfter(end.slice(0, last.start))) return { type: "protocol", reason: tooFar };
  const whyUnclear = () => {
    if (isLaterInList({ text: end, isWhole }, last)) return oneOfSeveral;
    const isWithin = isWithinAnother({ text: end, isWhole }, objects, last);
    return isWithin ? "the pass stands within a JSON object that is broken" : null;
  };
  return { type: "answer", text, fields, whyUnclear };
}

const oneOfSeveral = "the verdict is one of several in a list";

function cutToEnd({ text, before }: Said): Said {
  if (text.length <= verdictBytes) return { text, before };
  const nesting = before ?? new JsonNesting();
  nesting.add(text.slice(0, -verdictBytes));
  return { text: text.slice(-verdictBytes), before: nesting };
}

const tooFar =
  "the verdict may stand within JSON that began before the last MiB of the output; a longer one belongs in RATCHET_RESULT_FILE";
const tooLong = "no whole verdict in the last MiB of the output; a longer one belongs in RATCHET_RESULT_FILE";

function parse(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    // Something our scanner takes for JSON and the engine does not: no verdict.
    return null;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether a result file is an answer. Findings without a verdict are half of one: what was printed must not pass over them. */
export function isAnswer(written: Fields): boolean {
  const fields = plainKeys(written, verdictKeys);
  if (typeof fields === "string") return true;
  const { findings = null } = fields;
  if ("verdict" in fields || misplacedOutside(written).length > 0) return true;
  return findings !== null && !(Array.isArray(findings) && findings.length === 0);
}

/** The keys that count, without regard to case, as words are; a text: the key that is given twice so, and not the same. */
export function plainKeys(written: Fields, known: readonly string[]): Fields | string {
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(written)) {
    const key = name.toLowerCase();
    if (!known.includes(key)) continue;
    if (fields.has(key) && sameWhen(key, fields.get(key)) !== sameWhen(key, value)) return key;
    fields.set(key, value);
  }
  return Object.fromEntries(fields);
}

/** Two that are read as one are the same: words are, without regard to case. */
function sameWhen(key: string, value: unknown): string {
  const isWord = typeof value === "string" && ["verdict", "priority", "severity"].includes(key);
  return JSON.stringify(isWord ? value.trim().toLowerCase() : value);
}

function saidTwice(key: string): VerdictReading {
  return { type: "protocol", reason: `${show(key)} is given twice, and not the same` };
}

export function toVerdict(written: Fields): VerdictReading {
  const fields = plainKeys(written, verdictKeys);
  if (typeof fields === "string") return saidTwice(fields);
  const word = typeof fields.verdict === "string" ? fields.verdict.trim().toLowerCase() : fields.verdict;
  if (word === undefined) return { type: "protocol", reason: "the answer has no verdict" };
  if (word !== "pass" && word !== "fail") return { type: "protocol", reason: `${show(fields.verdict)} is no verdict` };
  const given = fields.findings ?? [];
  if (!Array.isArray(given)) return { type: "protocol", reason: "findings is not a list" };
  const lost = given.find((each) => !isRecord(each));
  if (lost !== undefined) return { type: "protocol", reason: `${show(lost)} is no finding: an object with a title` };
  const read = given.filter(isRecord).map((each) => plainKeys(withBody(each), findingKeys));
  const twice = read.find((each) => typeof each === "string");
  if (twice !== undefined) return saidTwice(twice);
  const findings: RawFinding[] = [];
  for (const each of read.filter(isRecord)) {
    const reading = readFindingPriority(each, word);
    if (reading.type === "unclear") return { type: "protocol", reason: reading.reason };
    findings.push(toFinding(each, reading.priority));
  }
  const misplaced = misplacedFindings(written, word, findings);
  if (misplaced !== null) return { type: "protocol", reason: misplaced };
  const denied = word === "pass" ? findDenial(written) : null;
  if (denied !== null) return { type: "protocol", reason: `${show(denied)} denies the pass` };
  if (word === "fail" && findings.length === 0) return { type: "protocol", reason: "fail without any finding" };
  return { type: "verdict", verdict: word, findings };
}

/**
 * Why something was found that, however deep, does not stand where we look; null: nothing was. A pass must not pass over
 * it, nor a fail over what is worse than all that is in its place: only what blocks fails a change. What stands within a
 * finding would be lost with whatever it says, so there it always counts.
 */
function misplacedFindings(written: Fields, verdict: "pass" | "fail", placed: readonly RawFinding[]): string | null {
  const worst = Math.min(...placed.map(({ priority }) => priority ?? Number.POSITIVE_INFINITY));
  const counts = (found: Misplaced): boolean => verdict === "pass" || badness(found) < worst;
  const key = misplacedOutside(written).find(({ found }) => found.some(counts))?.key;
  if (key !== undefined) return `${show(key)} is no key for findings`;
  return hasFindingsWithin(written) ? "one of the findings has findings of its own" : null;
}

/** By the keys beside `findings`. */
function misplacedOutside(written: Fields): { readonly key: string; readonly found: readonly Misplaced[] }[] {
  return Object.entries(written)
    .filter(([key]) => !isFindingsKey(key))
    .map(([key, value]) => ({ key, found: findMisplaced(key, value) }))
    .filter(({ found }) => found.length > 0);
}

/** Whatever the key there says of them. Texts of a finding are its own. */
function hasFindingsWithin(written: Fields): boolean {
  const placed = Object.entries(written).flatMap(([key, value]) => (isFindingsKey(key) ? value : []));
  const inside = placed.filter(isRecord).flatMap((each) => Object.values(each));
  return inside.some((value) => findMisplaced("", value).some(({ type }) => type === "object"));
}

function isFindingsKey(key: string): boolean {
  return key.toLowerCase() === "findings";
}

/** What nobody can place is worse than anything. */
function badness(found: Misplaced): number {
  if (found.type === "text") return found.priority ?? -1;
  const fields = plainKeys(found.fields, findingKeys);
  if (typeof fields === "string") return -1;
  const reading = readFindingPriority({ priority: null, ...fields }, "fail");
  return reading.type === "unclear" ? -1 : (reading.priority ?? Number.POSITIVE_INFINITY);
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
