/**
 * What a text says of itself: that it is a finding, by the priority that opens it, or that there is none. Words that are
 * in none of these tables say nothing, and whoever asks takes such a text for a finding.
 */
export interface Opening {
  readonly priority: number;
  readonly rest: string;
}

/** null: no priority opens it. */
export function readOpening(text: string): Opening | null {
  const opening = opened.exec(text.slice(0, looked));
  return opening && { priority: Number(opening[1]), rest: text.slice(opening[0].length) };
}

/** Only a short text does: a long one has something to tell. */
export function saysNone(text: string): boolean {
  const words = text.replace(/[*_`]/g, "").replace(/\s+/g, " ").trim();
  if (words.length > looked || restricts.test(words)) return false;
  return absences.some((absence) => absence.test(words));
}

/** As much of a text is looked at. */
const looked = 100;

const named = `(?:${[
  ...["findings?", "issues?", "defects?", "problems?", "bugs?", "blockers?"],
  ...["concerns", "flaws", "holes", "leaks", "objections", "regressions", "risks", "vulnerabilities"],
].join("|")})`;

/** Decorated as its writer likes: `1. P1: …`, `[P1] …`, `🔴 **P1** …`, `P1 issues: …`; not `P1-P3 are looked at`. */
const alone = "(?!\\s*(?:[-–/,&+]|and|or|to|through)\\s*P[0-3]\\b)";
const opened = new RegExp(
  `^[^\\p{L}\\p{N}]*(?:(?:\\d{1,3}|[a-z])[.):][^\\p{L}\\p{N}]*)?P([0-3])(?![\\p{L}\\p{N}])${alone}(?:\\s+${named}\\s*:)?[\\s:*\`\\])–—-]*`,
  "iu",
);

/** What follows is an exception to what was said before. */
const restricts = /\b(?:but|except|however|although|though|besides|(?:other|rather) than|(?:apart|aside) from)\b/i;

const afterwards = [
  ...["at this", "blocking", "have been", "in the", "in this", "left", "new", "open", "or", "outstanding"],
  ...["remain", "remaining", "spotted", "that block", "this", "to report"],
  ...["detected", "found", "identified", "reported", "seen"].map((done) => `(?:was |were )?${done}`),
].join("|");

/** It ends here, or tells where nothing was found; "none of the callers checks" and "no error handling" do not. */
const closes = `(?=\\W*$|[.,;!]+ | [–—-]+ | \\(| (?:${afterwards})\\b)`;

/** `no handling of errors`: what stands before such a word is what is missing. */
const between = "(?:(?!(?:are|because|for|from|in|is|of|on|so|to|when|which|while|with)\\b)[\\p{L}\\p{N}/-]+,? ){0,6}";

const begins = "^[^\\p{L}\\p{N}]*(?:(?:there (?:are|is|was|were)|(?:(?:i|we) )?(?:have )?(?:found|saw|see)) )?";

const absences = [
  /^[^\p{L}\p{N}]*$/u,
  /^\W*(?:0|false|n\/?a|nil|no|not applicable|null|zero)\W*$/i,
  /^\W*(?:all )?(?:clean|clear|fine|fixed|handled|looks good|ok|okay|passed|resolved)\W*$/i,
  new RegExp(`${begins}(?:none|nothing)${closes}`, "iu"),
  new RegExp(`${begins}(?:no|zero|0) ${between}${named}${closes}`, "iu"),
];
