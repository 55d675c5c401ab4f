import type { StageOutcome } from "./graph.js";

/**
 * What a stage says of its own outcome. Models quote the example that they were given before they answer, so the last
 * status wins and what belongs to an earlier one is dropped with it. A last status that is none of the four words is no
 * status: nothing earlier stands in for it.
 */
export interface StatusRead {
  /** `file` is a program's deliberate word and counts for every stage; markers count for reviews alone. */
  readonly from: "file" | "marker";
  /** null: only the rest was given. */
  readonly status: StatusWord | null;
  readonly failureReason: string | null;
  readonly preferredLabel: string | null;
  readonly nextIds: readonly string[];
  /** The word that was given in place of a status. */
  readonly invalid?: string;
  /** What is wrong with a result file that is there and says no status that is known: nothing stands in for it. */
  readonly broken?: string;
  /** It gives no status, and what it says in other words is no pass: why. */
  readonly failing?: string;
}
export type StatusWord = Exclude<StageOutcome, "skipped">;

/** Longer ones are no markers. */
const markerMax = 4000;
const start = /\[\s*(STATUS|FAILURE_REASON|PREFERRED_LABEL|NEXT)\s*:/gi;

type MarkerName = "status" | "failure_reason" | "preferred_label" | "next";
interface Marker {
  readonly name: MarkerName;
  readonly value: string;
}

/** Reads a text that comes in pieces of any size: it keeps what a marker may need, not the text. */
export class StatusReader {
  #rest = "";
  #leader: MarkerName | null = null;
  #status: string | null = null;
  #reason: string | null = null;
  /** The reason came after the last status. */
  #isNew = false;
  #label: string | null = null;
  #next: readonly string[] = [];
  #any = false;

  push(piece: string): void {
    const text = this.#rest + piece;
    const from = this.#scan(text, text.length - markerMax - 100);
    this.#rest = text.slice(from);
  }

  /** Null: there was no marker at all. */
  end(): StatusRead | null {
    this.#scan(this.#rest, this.#rest.length);
    this.#rest = "";
    if (!this.#any) return null;
    const status = asStatus(this.#status);
    return {
      from: "marker",
      status,
      failureReason: status === "success" ? null : this.#reason,
      preferredLabel: this.#label,
      nextIds: this.#next,
      ...(status === null && this.#status !== null ? { invalid: this.#status } : {}),
    };
  }

  /** Takes in every marker that begins before `limit`; returns where to go on. */
  #scan(text: string, limit: number): number {
    start.lastIndex = 0;
    let done = Math.max(0, limit);
    for (let match = start.exec(text); match !== null && match.index < limit; match = start.exec(text)) {
      const marker = markerAt(text, match);
      if (marker === null) continue;
      this.#take(marker.marker);
      start.lastIndex = marker.end;
      done = Math.max(done, marker.end);
    }
    return Math.min(done, text.length);
  }

  #take({ name, value }: Marker) {
    this.#any = true;
    if (name === "status" || name === "failure_reason") this.#leader ??= name;
    switch (name) {
      case "status":
        return this.#takeStatus(value);
      case "failure_reason":
        this.#reason = value === "" ? null : value;
        this.#isNew = true;
        return;
      case "preferred_label":
        this.#label = value === "" ? null : value;
        return;
      case "next":
        this.#next = value
          .split(",")
          .map((id) => id.trim())
          .filter((id) => id !== "");
    }
  }

  /** Who writes the reason first writes it before each status; else what came so far was an earlier status' own. */
  #takeStatus(value: string): void {
    const isFirst = this.#status === null;
    this.#status = value;
    const keeps = this.#leader === "failure_reason" ? this.#isNew : isFirst;
    this.#isNew = false;
    if (!keeps) this.#reason = null;
    if (isFirst || this.#leader === "failure_reason") return;
    this.#label = null;
    this.#next = [];
  }
}

export const statusWords: readonly StatusWord[] = ["success", "fail", "partial_success", "retry"];

/** As it is written in a marker or in a result file, in any case. */
export function asStatus(value: string | null): StatusWord | null {
  const word = value?.trim().toLowerCase();
  return statusWords.find((one) => one === word) ?? null;
}

function markerAt(text: string, match: RegExpExecArray): { readonly marker: Marker; readonly end: number } | null {
  const name = (match[1] ?? "").toLowerCase() as MarkerName;
  const from = match.index + match[0].length;
  const end = name === "failure_reason" ? reasonEnd(text, from) : plainEnd(text, from);
  return end === null ? null : { marker: { name, value: text.slice(from, end).trim() }, end: end + 1 };
}

function plainEnd(text: string, from: number): number | null {
  const end = text.indexOf("]", from);
  return end < 0 || end - from > 300 || text.slice(from, end).includes("\n") ? null : end;
}

/**
 * Where a reason ends: at the bracket that closes its own. When more brackets are closed than opened on the rest of that
 * line, one of them was part of the text and the last one closes it.
 */
function reasonEnd(text: string, from: number): number | null {
  const limit = Math.min(text.length, from + markerMax);
  const end = closing(text, from, limit);
  if (end === null) return lastOnLine(text, from, limit);
  const lineEnd = endOfLine(text, end, limit);
  let depth = 0;
  let last = end;
  for (let at = end + 1; at < lineEnd; at += 1) {
    if (text[at] === "[") depth += 1;
    else if (text[at] === "]") depth -= 1;
    if (depth < 0) {
      last = at;
      depth = 0;
    }
  }
  return last;
}

function closing(text: string, from: number, limit: number): number | null {
  let depth = 1;
  for (let at = from; at < limit; at += 1) {
    if (text[at] === "[") depth += 1;
    else if (text[at] === "]") depth -= 1;
    if (depth === 0) return at;
  }
  return null;
}

function lastOnLine(text: string, from: number, limit: number): number | null {
  const last = text.lastIndexOf("]", endOfLine(text, from, limit));
  return last < from ? null : last;
}

function endOfLine(text: string, from: number, limit: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 || end > limit ? limit : end;
}
