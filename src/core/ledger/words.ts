import type { Finding, OtherReport, Priority, Text } from "../finding.js";
import { reportsOf } from "./reports.js";
import type { Visit } from "./visit.js";

/**
 * One defect, several reporters: a finding is told in the words of one of them and keeps what the others said in theirs, so
 * that nothing is lost by taking them for one. Of each reporter it has the newest words.
 */

/** Whose words they are, whatever he calls himself. */
export function tellerOf({ author, stage }: Pick<OtherReport, "author" | "stage">): string {
  return author ?? stage;
}

/** What those say who report it; of a closed one all that it has. Its own text first. */
export function wordsOf(finding: Finding): Words {
  const known = knownWords.get(finding);
  if (known) return known;
  const { also_reported: others = [], status } = finding;
  const stages = reportsOf(finding).map(({ stage }) => stage);
  const words: Words = [finding, ...others.filter(({ stage }) => status !== "open" || stages.includes(stage))];
  knownWords.set(finding, words);
  return words;
}

type Words = readonly [OtherReport, ...OtherReport[]];
/** A remark is compared with many findings: what is said of each is worked out once. */
const knownWords = new WeakMap<Finding, Words>();

/** Those that say something else than its text, each once. */
export function otherWordsOf(finding: Finding): readonly OtherReport[] {
  const words = wordsOf(finding);
  return words
    .filter((one, index) => words.findIndex((other) => one === other || isSaidIn(other, one)) === index)
    .slice(1);
}

/** The text of an exported record has all that was said. */
function isSaidIn(whole: OtherReport, { title, body }: OtherReport): boolean {
  if (whole.body.ref || body.ref) return isSameText(whole, { title, body });
  const { text } = whole.body;
  return (whole.title === title || text.includes(title)) && text.includes(body.text);
}

/** It stays in the words of somebody else, who still reports it. */
export function isToldByOther(finding: Finding, visit: Visit): boolean {
  const isNewer = finding.stage === visit.stage && (finding.visit !== visit.visit || finding.run_id !== visit.runId);
  return !isNewer && tellerOf(finding) !== tellerOf(visit) && reportOf(finding) !== undefined;
}

/** What the others say or have said when `visit` reports it anew. */
export function othersBeside(finding: Finding, visit: Visit): OtherReport[] {
  const { also_reported: others = [], status, priority } = finding;
  const own = toReport(finding, reportOf(finding)?.priority ?? priority);
  const all = isToldByOther(finding, visit) ? others : [own, ...others];
  // Of a stage that all share it cannot be told any more who had let it go.
  const isKept = ({ stage }: OtherReport) => status === "open" || stage !== visit.stage;
  return all.filter((one) => tellerOf(one) !== tellerOf(visit) && isKept(one));
}

export function toReport(said: Omit<OtherReport, "priority">, priority: Priority): OtherReport {
  const { stage, reviewer, author, visit, file, line_start, line_end, title, body } = said;
  const by = { stage, reviewer, ...(author === undefined ? {} : { author }), visit };
  return { ...by, file, line_start, line_end, priority, title, body };
}

/** undefined: whose text it has does not report it any more. */
function reportOf(finding: Finding) {
  return reportsOf(finding).find(({ stage }) => stage === finding.stage);
}

/** In the words of one reporter alone, where they are known. */
export function inWordsOf(finding: Finding, isHis: (report: OtherReport) => boolean): Finding {
  const [own, ...others] = [finding, ...(finding.also_reported ?? [])].filter(isHis);
  return own === undefined ? finding : { ...finding, ...own, also_reported: others };
}

interface Worded {
  readonly title: string;
  readonly body: Text;
}

export function isSameText(one: Worded, other: Worded): boolean {
  const [hash, otherHash] = [one.body.ref?.sha256, other.body.ref?.sha256];
  const isSameRest = hash === undefined || otherHash === undefined || hash === otherHash;
  return one.title === other.title && one.body.text === other.body.text && isSameRest;
}
