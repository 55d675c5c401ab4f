import { refuse } from "../refusal.js";

/**
 * What a shell would put into a word is known only in part. A word's text is a plain string in which private characters
 * stand for what is not known; so text that was glued together keeps what is known of it. A line that has such a
 * character of its own is refused: nobody could tell the two apart.
 */
export const unknown = {
  /** Anything at all. */
  any: "\uE000",
  /** Some characters of a name: no slash, not "..". */
  name: "\uE001",
  /** A wildcard: what it matches lies in the folder that is written before it. */
  glob: "\uE002",
  /** A path that goes down only. */
  below: "\uE003",
  /** The number of a process that this command line has started. */
  ownPid: "\uE004",
  /** Between the fields of an expansion that is not quoted. */
  split: "\uE005",
  /** Anything, from the network. */
  download: "\uE006",
  /** What is in a file. */
  file: "\uE007",
} as const;

const opaque = /[\uE000\uE006\uE007]/;
const partly = /[\uE000-\uE004\uE006\uE007]/;

/** Nothing is known of some part of it. */
export function isOpaque(text: string): boolean {
  return opaque.test(text);
}

export function isKnown(text: string): boolean {
  return !partly.test(text);
}

export function isDownload(text: string): boolean {
  return text.includes(unknown.download);
}

/** Text that came from outside, as it was written. */
export function mustBePlain(text: string): string {
  return /[\uE000-\uE007]/.test(text) ? refuse("it has characters from U+E000 to U+E007; name it otherwise") : text;
}

/** For a reason that an agent reads. */
export function printable(text: string): string {
  const shown = text.replace(/[\uE000\uE003\uE006\uE007]/g, "…").replace(/\uE005/g, " ");
  return shown.replace(/[\uE001\uE002\uE004]/g, "*").slice(0, 200);
}

/** Too many to count: paths that go down only stay such. */
export function collapse(values: readonly string[]): string {
  const down = values.every((value) => !value.startsWith("/") && !value.split("/").includes(".."));
  return down && !values.some((value) => /[\uE000\uE006\uE007]/.test(value)) ? unknown.below : unknown.any;
}

/** The lines of a text as the values of one variable. */
export function linesOf(text: string): readonly string[] {
  const lines = [...new Set(text.split(/[\n\uE005]/).filter((line) => line !== ""))];
  if (lines.length === 0) return [""];
  return lines.length > 16 ? [collapse(lines)] : lines;
}
