/** `Blocking Issues`, `blocking_issues` and `blockingIssues` are the same words. */
export function wordsOf(key: string): string {
  const parted = key.replace(/(\p{Ll}|\d)(?=\p{Lu})/gu, "$1 ");
  return parted
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, " ")
    .trim();
}

/** What is found, as texts and keys call it. */
export const defects = [
  ...["findings", "issues", "defects", "problems", "bugs", "blockers", "concerns", "errors", "flaws", "holes", "leaks"],
  ...["objections", "regressions", "risks", "violations", "vulnerabilities"],
].join("|");

/** An `issue` is what the change is about. */
const one = "finding|defect|blocker|violation|vulnerability|bug";
const demands = "blocking|must ?fix|required changes";
const naming = new RegExp(`\\b(?:${defects}|${demands})\\b|\\b(?:critical|${one})$`);
/** What follows in the key may say that the text is about something else: `findings_summary`, `errors_by_design`. */
const namingText = new RegExp(`\\b(?:(?:${defects})(?: found)?|${demands}|critical|${one})$`);

/**
 * Whether findings stand below a key, whatever they look like, or do already around it; for a text by itself less will do for
 * another meaning.
 */
export function namesFindings(key: string, { isWithin, isText }: { isWithin: boolean; isText: boolean }): boolean {
  const words = wordsOf(key);
  return !isSaidHarmless.test(words) && (isWithin || (isText ? namingText : naming).test(words));
}

/** Texts of a `non_blocking_issues` are what a pass may leave, those of `no_regressions` how that is known; one that says how bad it is counts as anywhere. */
const isSaidHarmless = /\bnon ?(?:blocking|critical)\b|^no\b/;

/** Of an earlier round, done with or only mentioned: nothing below such a key counts. */
export function isSettledKey(key: string): boolean {
  const words = wordsOf(key);
  return isSettled.test(words) && !isBack.test(words);
}

const done = "resolved|fixed|addressed|closed|settled|handled|checked";
/** Not `priority_issues`, nor `verified_issues`, which may be confirmed ones; a `linked_list_bugs` is about linked lists. */
const isSettled = new RegExp(
  `^(?:${done}|previous|prior|earlier|past)$|^(?:resolved|fixed|addressed|closed|settled|previous|prior|earlier|past)\\b` +
    `|^(?:linked|related|checked) (?:${defects})$|^(?:${defects}) (?:${done})$`,
);
const isBack = /\b(?:again|not|open|re(?:main|open)\w*|still|un\w+)\b/;
