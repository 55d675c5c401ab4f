import type { Rejection } from "../finding.js";
import type { Marker, MarkerName } from "./events.js";

const dress = /^\s*([*_`]*)(.*?)\s*$/;

/** The line without what makes all of it bold, or code; where only a part of it is, it may be about the word and not say it. */
function undressed(text: string): string {
  const [, around = "", inside = ""] = dress.exec(text) ?? [];
  const end = inside.length - around.length;
  const isWhole = around === "" || inside.indexOf([...around].reverse().join("")) === end;
  return isWhole ? inside.slice(0, end).trim() : text;
}

/** `<why>` is how a prompt explains it. */
const line = /^ISSUE_(NO_CHANGE|OBSOLETE|ALREADY_COMPLETE|DOCS_ONLY):(?!\s*<\w+>)\s*(.*)$/;
const rationaleMax = 1000;

/** A line `ISSUE_<MARKER>: <rationale>`; null: it is none. */
function parseMarker(text: string): Marker | null {
  const [, name, rationale = ""] = line.exec(undressed(text.slice(0, 2 * rationaleMax))) ?? [];
  if (!isMarkerName(name)) return null;
  return { name, rationale: rationale.length > rationaleMax ? `${rationale.slice(0, rationaleMax - 1)}…` : rationale };
}

const namedMax = 20;

/**
 * The words of an ALREADY_COMPLETE rationale that may be the id of a commit; one that is in the target is enough. Shorter than
 * git writes them, a mere number or word (2024, added) is none: one of a large history might happen to begin like that.
 */
export function namedCommits(marker: Marker | null): string[] {
  if (marker?.name !== "ALREADY_COMPLETE") return [];
  const words = (marker.rationale.match(/\b[0-9a-f]{4,64}\b/gi) ?? []).map((word) => word.toLowerCase());
  const meant = words.filter((word) => word.length >= 7 || (/\d/.test(word) && /[a-f]/.test(word)));
  return [...new Set(meant)].slice(0, namedMax);
}

const objection = /^[*_`]*FINDING_REJECTED[*_`]*:[*_`]*\s*[*_`]*([A-Za-z0-9-]{4,64})[*_`]*[\s:,–—-]+(\S.*)$/;
/** One of several. */
const bullet = /^\s*(?:[-*+]|\d{1,3}[.)])\s+/;
const reasonMax = 500;

/** A line `FINDING_REJECTED: <id> <why>`; null: it is none. */
function parseRejection(text: string): Rejection | null {
  const [, id, reason] = objection.exec(undressed(text.slice(0, 2 * reasonMax).replace(bullet, ""))) ?? [];
  if (id === undefined || reason === undefined) return null;
  return { id, reason: reason.length > reasonMax ? `${reason.slice(0, reasonMax - 1)}…` : reason };
}

/** What an agent's last message says to Ratchet itself. */
export interface Said {
  readonly marker: Marker | null;
  readonly rejected: readonly Rejection[];
}
export const nothingSaid: Said = { marker: null, rejected: [] };
const rejectionsMax = 50;

/** One more line of it. The last word on each thing wins: agents quote the example first. */
export function hear(said: Said, text: string): Said {
  const marker = parseMarker(text);
  if (marker) return { ...said, marker };
  const rejection = parseRejection(text);
  if (!rejection) return said;
  const others = said.rejected.filter(({ id }) => id !== rejection.id);
  return { ...said, rejected: [...others, rejection].slice(-rejectionsMax) };
}

function isMarkerName(name: string | undefined): name is MarkerName {
  return name === "NO_CHANGE" || name === "OBSOLETE" || name === "ALREADY_COMPLETE" || name === "DOCS_ONLY";
}
