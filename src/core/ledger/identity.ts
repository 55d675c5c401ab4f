import type { FindingSource } from "../finding.js";
import { hashText } from "./hash.js";

/** Lines that code moves by between two looks at the same defect. */
const nearLines = 3;
const similarTitles = 0.6;
const fillers = new Set([
  "a",
  "an",
  "and",
  "at",
  "by",
  "for",
  "from",
  "in",
  "is",
  "of",
  "on",
  "or",
  "the",
  "to",
  "with",
]);

export interface Place {
  readonly file: string;
  readonly line_start: number;
  readonly line_end: number;
}

/** Stable across rounds, runs, reviewers and moved lines: file, normalised title and source alone. */
export function findingId(finding: {
  readonly file: string;
  readonly title: string;
  readonly source: FindingSource;
}): string {
  return hashText([normaliseFile(finding.file), normaliseTitle(finding.title), finding.source].join("\n"));
}

/** Every title it was reported with, the one it is told with first. */
export function titlesOf({
  title,
  also = [],
}: {
  readonly title: string;
  readonly also?: readonly string[];
}): string[] {
  return [title, ...also];
}

/** The titles that it is known by besides `title`, once somebody has called it so: each once, as it was last spelt. */
export function otherTitles(titles: readonly string[], title: string): string[] {
  const others = new Map(titles.map((other) => [normaliseTitle(other), other]));
  others.delete(normaliseTitle(title));
  return [...others.values()];
}

export function normaliseFile(file: string): string {
  return plainPath(file.replaceAll("\\", "/"));
}

/** Without what leads nowhere: `./`, `//`, and `..` behind a name. */
export function plainPath(file: string): string {
  if (!/(?:^|\/)\.{0,2}\//.test(file)) return file;
  const root = file.startsWith("/") ? "/" : "";
  const names: string[] = [];
  for (const name of file.split("/")) {
    if (name === "" || name === ".") continue;
    const above = names.at(-1);
    if (name !== "..") names.push(name);
    else if (above !== undefined && above !== "..") names.pop();
    else if (root === "") names.push(name);
  }
  return `${root}${names.join("/")}` || file;
}

/** As findings name a file, wherever the checkout was that somebody saw it in: `roots` are where an absolute path may begin. */
export function repositoryPath(file: string, roots: readonly string[]): string {
  const path = plainPath(file.trim());
  const root = roots.map((one) => `${plainPath(`${one}/`).replace(/\/+$/, "")}/`).find((one) => path.startsWith(one));
  return root === undefined || path === root ? path : path.slice(root.length);
}

/** Case, punctuation, white space and line numbers do not make a title another one. */
function normaliseTitle(title: string): string {
  const folded = title.normalize("NFKC").toLowerCase();
  const words = folded
    .replace(/\blines?\s+\d+(\s*[-–]\s*\d+)?/g, " ")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  return words === "" ? folded.replace(/\s+/g, " ").trim() : words;
}

export function isNear(a: Place, b: Place): boolean {
  return lineDistance(a, b) <= nearLines && (a.file === b.file || normaliseFile(a.file) === normaliseFile(b.file));
}

/** The lines that something near it begins before the end of, and ends behind the beginning of. */
export function reachOf(place: Place): { readonly first: number; readonly last: number } {
  return { first: place.line_start - nearLines, last: lastLine(place) + nearLines };
}

/** 0 when the ranges overlap. */
export function lineDistance(a: Place, b: Place): number {
  return Math.max(0, a.line_start - lastLine(b), b.line_start - lastLine(a));
}

function lastLine(place: Place): number {
  return Math.max(place.line_start, place.line_end);
}

interface Titled {
  readonly title: string;
}

export function isSameTitle(a: Titled, b: Titled): boolean {
  return normaliseTitle(a.title) === normaliseTitle(b.title);
}

/** The same title but for words that tell nothing, and their order. */
export function isSameWords(a: Titled, b: Titled): boolean {
  return isSameTitle(a, b) || (similarity(a, b) === 1 && !namesOthers(a, b));
}

export function isSimilarTitle(a: Titled, b: Titled): boolean {
  return similarity(a, b) >= similarTitles && !namesOthers(a, b);
}

/** Each has a word that the other lacks, and one of these is a number or a name in code: they are about two things. */
export function namesOthers(a: Titled, b: Titled): boolean {
  const [left, right] = [lackedBy(b, a), lackedBy(a, b)];
  return left.length > 0 && right.length > 0 && [...left, ...right].some(({ isName }) => isName);
}

/** Shared words by all words; a word counts as shared with a longer form of it (deref, dereference). Symmetric. */
function similarity(a: Titled, b: Titled): number {
  const [left, right] = a.title < b.title ? [titleWords(a), titleWords(b)] : [titleWords(b), titleWords(a)];
  const exact = left.filter((word) => right.includes(word));
  const rest = right.filter((word) => !exact.includes(word));
  let shared = exact.length;
  for (const word of left.filter((word) => !exact.includes(word))) {
    const form = rest.findIndex((other) => isFormOf(word, other));
    if (form < 0) continue;
    rest.splice(form, 1);
    shared += 1;
  }
  const all = left.length + right.length - shared;
  return all > 0 ? shared / all : 0;
}

/** A title is compared with many others: its words are worked out once. */
const knownWords = new WeakMap<Titled, readonly string[]>();

function titleWords(titled: Titled): readonly string[] {
  const known = knownWords.get(titled);
  if (known) return known;
  const words = [...new Set(normaliseTitle(titled.title).split(" "))];
  const telling = words.filter((word) => !fillers.has(word));
  const told = telling.length > 0 ? telling : words;
  knownWords.set(titled, told);
  return told;
}

interface Token {
  readonly words: readonly string[];
  readonly isName: boolean;
}

/** What of `titled` is not in `other`: a name only as it is, another word in a longer or shorter form, too. */
function lackedBy(other: Titled, titled: Titled): Token[] {
  const there = tokensOf(other);
  const words = new Set(there.flatMap((token) => token.words));
  const plain = there.flatMap((token) => (token.isName ? [] : token.words));
  return tokensOf(titled).filter((token) =>
    token.words.some((word) => {
      if (words.has(word)) return false;
      return token.isName || !(fillers.has(word) || plain.some((one) => isFormOf(word, one)));
    }),
  );
}

const knownTokens = new WeakMap<Titled, readonly Token[]>();

function tokensOf(titled: Titled): readonly Token[] {
  const known = knownTokens.get(titled);
  if (known) return known;
  const tokens = titled.title
    .normalize("NFKC")
    .split(/\s+/)
    .map((token) => ({ words: token.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [], isName: isCodeName(token) }));
  knownTokens.set(titled, tokens);
  return tokens;
}

/** `find_user`, `a.b`, `run()`, `x1`, `camelCase`, or whatever stands in quotes. */
function isCodeName(token: string): boolean {
  const bare = token.replace(/[,.:;!?]+$/, "");
  return /[_`\p{N}]|[^.]\.[^.]|::|\(\)|\p{Ll}\p{Lu}|^["“]|["”]$|^['‘].*['’]$/u.test(bare);
}

function isFormOf(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 4 && long.startsWith(short);
}
