import { fidelities } from "../defaults.js";
import { durationHint, parseDuration } from "../duration.js";
import type { Fidelity, Named } from "../graph.js";
import type { Problem, Problems } from "../problems.js";
import type { Value } from "./value.js";

type Lookup = (key: string) => Value | undefined;

/** The attributes of one node, edge or graph as what they stand for. A wrong one is told at its value and left out. */
export class Fields {
  private readonly lookup: Lookup;
  private readonly problems: Problems;

  constructor(lookup: Lookup, problems: Problems) {
    this.lookup = lookup;
    this.problems = problems;
  }

  value(key: string): Value | undefined {
    return this.lookup(key);
  }

  /** An empty text is none. */
  text(key: string): string | null {
    const text = this.lookup(key)?.text;
    return text === undefined || text.trim() === "" ? null : text;
  }

  named(key: string): Named | null {
    const value = this.lookup(key);
    const name = value?.text.trim() ?? "";
    return value === undefined || name === "" ? null : { name, at: value.at };
  }

  /** `a, b`: each with its own place is more than anybody needs, the value's will do. */
  names(key: string): Named[] {
    const value = this.lookup(key);
    if (value === undefined) return [];
    return value.text
      .split(",")
      .map((part) => part.trim())
      .filter((name) => name !== "")
      .map((name) => ({ name, at: value.at }));
  }

  flag(key: string): boolean | null {
    const value = this.lookup(key);
    if (value === undefined) return null;
    const text = value.text.trim().toLowerCase();
    if (text === "true" || text === "false") return text === "true";
    this.tell(key, value, { wanted: "true or false" });
    return null;
  }

  count(key: string, least = 0): number | null {
    const value = this.lookup(key);
    if (value === undefined) return null;
    const text = value.text.trim();
    if (/^-?\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
    this.tell(key, value, { wanted: `a whole number from ${least} on` });
    return null;
  }

  /** Any whole number. */
  integer(key: string): number | null {
    return this.count(key, -999_999_999);
  }

  duration(key: string): number | null {
    const value = this.lookup(key);
    if (value === undefined) return null;
    const parsed = parseDuration(value.text);
    if (parsed === null) this.tell(key, value, { wanted: "a duration", hint: durationHint });
    return parsed;
  }

  /** A time that something may take: none at all is a mistake. */
  limit(key: string): number | null {
    const read = this.duration(key);
    const value = this.lookup(key);
    if (read !== 0 || value === undefined) return read;
    this.tell(key, value, { wanted: "a duration above 0" });
    return null;
  }

  oneOf<T extends string>(key: string, words: readonly T[]): T | null {
    const value = this.lookup(key);
    if (value === undefined) return null;
    const found = words.find((word) => word === value.text.trim());
    if (found === undefined) this.tell(key, value, { wanted: `one of ${words.join(", ")}` });
    return found ?? null;
  }

  fidelity(key: string): Fidelity | null {
    const value = this.lookup(key);
    if (value === undefined || value.text.trim() === "") return null;
    const found = fidelities.find((word) => word === value.text.trim());
    if (found === undefined)
      this.problems.warning({
        at: value.at,
        rule: "fidelity",
        message: `unknown fidelity "${value.text.slice(0, 40)}": it changes nothing`,
        hint: `write one of ${fidelities.join(", ")}`,
      });
    return found ?? null;
  }

  error(problem: Problem): void {
    this.problems.error(problem);
  }

  warning(problem: Problem): void {
    this.problems.warning(problem);
  }

  private tell(key: string, value: Value, { wanted, hint }: { readonly wanted: string; readonly hint?: string }): void {
    const written = value.text.length > 40 ? `${value.text.slice(0, 40)}…` : value.text;
    this.problems.error({
      at: value.at,
      rule: "wrong-type",
      message: `${key} must be ${wanted}, not "${written}"`,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
