import type { Finding } from "../finding.js";
import { findingId, normaliseFile, type Place, reachOf, titlesOf } from "./identity.js";
import { isSettledOpinion } from "./reports.js";
import { wordsOf } from "./words.js";

/**
 * What a remark may be about, without looking at all there is: a visit may name thousands, of a ledger that has thousands.
 * Whoever asks compares what is found here: near means that it may be near.
 */
export class KnownFindings {
  readonly #findings: readonly Finding[];
  readonly #families = new Map<string, Set<Finding>>();
  readonly #places = new Places();
  readonly #ids: Set<string>;
  readonly #occurrences = new Map<string, number>();

  constructor(findings: readonly Finding[]) {
    this.#findings = [...findings];
    this.#ids = new Set(findings.map(({ id }) => id));
    for (const [index, finding] of findings.entries()) {
      for (const base of basesOf(finding))
        this.#families.set(base, (this.#families.get(base) ?? new Set()).add(finding));
      for (const words of wordsOf(finding)) this.#places.add(words, index);
    }
  }

  /** Those with this id, or with it and a number, or that somebody reported with it, in their order. */
  family(base: string): readonly Finding[] {
    return [...(this.#families.get(base) ?? [])];
  }

  /** Those of a family, in their order. */
  nearIn(base: string, place: Place): Finding[] {
    const family = this.#families.get(base);
    return family ? this.near(place).filter((finding) => family.has(finding)) : [];
  }

  /** In their order. */
  near(place: Place): Finding[] {
    return this.#places.near(place).flatMap((index) => this.#findings[index] ?? []);
  }

  /** `<base>`, `<base>-2`, …: the first that is not taken, which it is from now on. */
  takeId(base: string): string {
    for (let occurrence = this.#occurrences.get(base) ?? 1; ; occurrence++) {
      const id = occurrence === 1 ? base : `${base}-${occurrence}`;
      if (this.#ids.has(id)) continue;
      this.#ids.add(id);
      this.#occurrences.set(base, occurrence + 1);
      return id;
    }
  }
}

/** What the ids of remarks about it begin with. What is settled is settled in the words that were decided on, and no others. */
export function basesOf(finding: Finding): readonly string[] {
  const [base = ""] = finding.id.split("-", 1);
  if (finding.also === undefined) return [base];
  const { file, source } = finding;
  const idOf = (title: string) => findingId({ file, title, source });
  if (isSettledOpinion(finding)) return [...new Set(wordsOf(finding).map(({ title }) => idOf(title)))];
  return [...new Set([base, ...titlesOf(finding).map(idOf)])];
}

/** Numbers of things by where they are: by file, and within it by stretches of lines. */
export class Places {
  readonly #stretches = new Map<string, number[]>();
  /** What goes over many stretches, by file. */
  readonly #long = new Map<string, number[]>();
  readonly #files = new Map<string, number[]>();

  add(place: Place, index: number): void {
    const file = normaliseFile(place.file);
    push(this.#files, file, index);
    const stretches = stretchesOf({ first: place.line_start, last: Math.max(place.line_start, place.line_end) });
    if (stretches === null) push(this.#long, file, index);
    else for (const stretch of stretches) push(this.#stretches, `${stretch} ${file}`, index);
  }

  /** Each once, the lowest first. */
  near(place: Place): number[] {
    const file = normaliseFile(place.file);
    const stretches = stretchesOf(reachOf(place));
    if (stretches === null) return sorted(this.#files.get(file) ?? []);
    const here = stretches.flatMap((stretch) => this.#stretches.get(`${stretch} ${file}`) ?? []);
    return sorted([...(this.#long.get(file) ?? []), ...here]);
  }
}

const stretchLines = 32;
const longStretches = 16;

/** null: too many to be told apart. */
function stretchesOf({ first, last }: { readonly first: number; readonly last: number }): number[] | null {
  const from = Math.floor(first / stretchLines);
  const count = Math.floor(last / stretchLines) - from + 1;
  return count > longStretches ? null : Array.from({ length: count }, (_, at) => from + at);
}

function sorted(indexes: readonly number[]): number[] {
  return [...new Set(indexes)].sort((one, other) => one - other);
}

export function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
