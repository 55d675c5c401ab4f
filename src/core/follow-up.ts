/**
 * What follow-up issues say: a paragraph per finding, with the finding's id hidden in it. A finding is told once, also
 * when a later report of it is worded otherwise. An issue has a follow-up of its own; what a run's triggers find is about
 * the whole repository, and the next run finds it again: there the open follow-ups of all runs count as one.
 */
export interface OpenFollowUp {
  readonly id: string;
  readonly source: string;
  readonly body: string;
  /** Somebody works on it: what is added now may never be read. */
  readonly isTaken: boolean;
}

export interface FollowUpPlace<F extends OpenFollowUp> {
  /** null: one has to be made. */
  readonly to: F | null;
  /** What no open one says yet. */
  readonly added: readonly string[];
  /** Findings that are said in another open one than `to`, with the id of that one. */
  readonly older: Readonly<Record<string, string>>;
}

/** Where a text goes: `open` has at least the source's own, and where that is a run, those of other runs. */
export function placeFollowUp<F extends OpenFollowUp>(
  open: readonly F[],
  { source, body }: { readonly source: string; readonly body: string },
): FollowUpPlace<F> {
  const own = open.find((one) => one.source === source) ?? null;
  if (!isRunSource(source)) return { to: own, added: newParagraphs(own?.body ?? "", body), older: {} };
  const ofRuns = open.filter((one) => isRunSource(one.source));
  const added = newParagraphs(ofRuns.map((one) => one.body).join("\n\n"), body);
  const all = paragraphsOf(body).length;
  const telling = ofRuns.find((one) => newParagraphs(one.body, body).length < all);
  if (added.length === 0 && telling) return { to: telling, added, older: toldBeside(telling, ofRuns, body) };
  const free = [...(own ? [own] : []), ...ofRuns].find(({ isTaken }) => !isTaken);
  const to = free ?? own;
  return { to, added, older: toldBeside(to, ofRuns, body) };
}

/** The findings of a text that another open one than `to` has, and which. */
function toldBeside(to: OpenFollowUp | null, open: readonly OpenFollowUp[], body: string): Record<string, string> {
  const told: Record<string, string> = {};
  for (const paragraph of paragraphsOf(body)) {
    const finding = findingOf(paragraph);
    const isIn = (one: OpenFollowUp) => newParagraphs(one.body, paragraph).length === 0;
    if (finding === null || (to !== null && isIn(to))) continue;
    const one = open.find(isIn);
    if (one) told[finding] = one.id;
  }
  return told;
}

/** The ids of the findings that a text tells. */
export function findingsIn(body: string): string[] {
  return paragraphsOf(body).flatMap((paragraph) => findingOf(paragraph) ?? []);
}

/** Its own mark is the last line; others may stand in text that a reviewer quoted. */
const ownMark = /<!-- ratchet:(\S+) -->$/;

/** The paragraph of one finding. Marks that its text quotes are broken: the last line is the only one. */
export function followUpParagraph(findingId: string, text: string): string {
  const lines = text.replaceAll("<!-- ratchet:", "<!-- ratchet :").split(/\r?\n/);
  return `- ${lines.join("\n  ")}\n  <!-- ratchet:${findingId} -->`;
}

function findingOf(paragraph: string): string | null {
  return ownMark.exec(paragraph)?.[1] ?? null;
}

/** Of a follow-up that does not say whose findings it collects: no issue has this id. */
export const unknownSource = "";

/** The source of what triggers of a whole run find. */
export function runSource(runId: string): string {
  return `run-${runId}`;
}
export function isRunSource(source: string): boolean {
  return /^run-\d{8}-\d{6}-[0-9a-f]+$/.test(source);
}

export function newParagraphs(old: string, body: string): string[] {
  const known = new Set(paragraphsOf(old));
  const told = new Set(findingsIn(old));
  return paragraphsOf(body).filter((paragraph) => {
    const finding = findingOf(paragraph);
    return !known.has(paragraph) && !(finding !== null && told.has(finding));
  });
}

export function paragraphsOf(text: string): string[] {
  return text
    .split(/(?:\r?\n){2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "");
}
