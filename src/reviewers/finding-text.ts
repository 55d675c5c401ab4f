import { defects } from "./key-words.js";

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

/** Only a short text that as a whole does: a long one has something to tell, and so has whatever else stands beside it. */
export function saysNone(text: string): boolean {
  const words = text.replace(/[*_`]/g, "").replace(/\s+/g, " ").trim();
  return words.length <= looked && (isNothing.test(words) || isAbsence.test(words));
}

/** As much of a text is looked at. */
const looked = 100;

const named = `(?:${defects}|finding|issue|defect|problem|bug|blocker)`;

/** Decorated as its writer likes: `1. P1: …`, `[P1] …`, `🔴 **P1** …`, `P1 issues: …`; not `P1-P3 are looked at`. */
const several = "(?!\\s*(?:[-–/,&+]|and|or|to|through)\\s*P[0-3]\\b)";
/** `P1.py`, `p0-config.yaml` and `P1/main.c:3` are files; so is `P1/Makefile`, where it is the whole text. */
const noFile = "(?!(?:[/\\\\_-][^\\s:\\]]*)?\\.\\p{L}\\w*(?::\\d+)*(?=[\\s,;]|$)|[/\\\\]\\S*$)";
const opened = new RegExp(
  `^[^\\p{L}\\p{N}]*(?:(?:\\d{1,3}|[a-z])[.):][^\\p{L}\\p{N}]*)?P([0-3])(?![\\p{L}\\p{N}])${several}${noFile}(?:\\s+${named}\\s*:)?[\\s:*\`\\])–—-]*`,
  "iu",
);

const isNothing = /^(?:[^\p{L}\p{N}]*|\W*(?:0|false|n\/?a|nil|no|not applicable|null|zero)\W*)$/iu;

/** `no handling of errors`: what stands before such a word is what is missing. */
const notMissing = [
  ...["are", "because", "for", "from", "in", "is", "of", "on", "so", "to", "when", "which", "while", "with"],
  ...["although", "but", "except", "however", "than", "though"],
  ...["causes", "causing", "creates", "introduces", "leads", "means"],
].join("|");
const kind = `(?:(?!(?:${notMissing})\\b)[\\p{L}\\p{N}/-]+)`;
const kinds = `(?:(?:${kind},? ){0,5}(?:and|or) (?:${kind} ){1,2}|(?:${kind} ){0,6})`;

/** Where or when nothing was found; "none of the callers checks", "no error handling" and "none (user) is read" tell more. */
const placed = `(?:after|at|by|during|in|of|on) (?:the|these|this) [^\\s,;!]+(?: (?:changes?|code|commits?|diff|files?|review|round))?`;
const looks = [
  ...[placed, "(?:in|of) [^\\s,;!]+", "this (?:review|round|time)"],
  "(?:(?:was|were|have been) )?(?:detected|found|identified|reported|seen|spotted)",
  ...[
    "blocking",
    "left",
    "major",
    "new",
    "notable",
    "serious",
    "significant",
    "open",
    "or",
    "outstanding",
    "remain",
    "remaining",
    "that block",
    "to report",
  ],
].join("|");

const absence = `(?:(?:there (?:are|is|was|were)|(?:(?:i|we) )?(?:have )?(?:found|saw|see)) )?(?:none|nothing|(?:no|zero|0) ${kinds}${named})(?: (?:${looks}))*`;
const praise = `(?:(?:all|everything|it|(?:all|the|this) (?:change|code|diff|work)) )?(?:(?:are|is|looks) )?(?:clean|clear|fine|fixed|good|handled|lgtm|ok|okay|passed|resolved)`;
/** What a priority of an earlier round was about. */
const past =
  "from (?:(?!(?:no|none|not)\\b)[^\\s,;:]+ ){1,6}(?:(?:has|have) been|is|was|were) (?:now )?(?:fixed|resolved)";

/** The parts of a text, each of which must say it. */
const clause = `(?:P[0-3][^\\p{L}\\p{N}]+)?(?:${absence}|${praise}|${past})`;
const between = "[^\\p{L}\\p{N}]*[^\\p{L}\\p{N}\\s][^\\p{L}\\p{N}]*";
const isAbsence = new RegExp(`^[^\\p{L}\\p{N}]*${clause}(?:${between}(?:${clause}|${placed}))*[^\\p{L}\\p{N}]*$`, "iu");
