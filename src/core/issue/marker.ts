import type { Marker, MarkerName } from "./events.js";

const line = /^\s*ISSUE_(NO_CHANGE|OBSOLETE|ALREADY_COMPLETE|DOCS_ONLY):\s*(.*?)\s*$/;
const rationaleMax = 1000;

/** A line `ISSUE_<MARKER>: <rationale>`; null: it is none. */
export function parseMarker(text: string): Marker | null {
  const [, name, rationale = ""] = line.exec(text.slice(0, 2 * rationaleMax)) ?? [];
  if (!isMarkerName(name)) return null;
  return { name, rationale: rationale.length > rationaleMax ? `${rationale.slice(0, rationaleMax - 1)}…` : rationale };
}

/** The last marker wins: agents quote the example first. */
export function lastMarker(lines: Iterable<string>): Marker | null {
  let last: Marker | null = null;
  for (const text of lines) last = parseMarker(text) ?? last;
  return last;
}

function isMarkerName(name: string | undefined): name is MarkerName {
  return name === "NO_CHANGE" || name === "OBSOLETE" || name === "ALREADY_COMPLETE" || name === "DOCS_ONLY";
}
