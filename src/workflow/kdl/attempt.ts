import { type Document, InvalidKdlError, parse } from "@bgotink/kdl";
import { parse as parseVersion1 } from "@bgotink/kdl/v1-compat";
import { countOffsets, storedOffsets } from "./offsets.js";
import { beforeInserting } from "./places.js";
import type { Scan } from "./scan.js";

/**
 * What became of parsing a text, as version 2 with `#` put in front of bare keywords, or as version 1 with the `;` that it
 * wants before `}`: together these take the files that people have.
 */
export interface Attempt {
  readonly document: Document | null;
  /** Of its parts, in the text that was parsed. */
  readonly offsets: readonly number[];
  readonly errors: readonly InvalidKdlError[];
  readonly original: (offset: number) => number;
}

export function firstThatParses(text: string, scan: Scan): Attempt {
  const version2 = attemptVersion2(text, scan.keywords);
  if (version2.document !== null) return version2;
  const version1 = attempt(parseVersion1, text, { sign: ";", offsets: scan.openEnds });
  return version1.document !== null || scan.isVersion1 ? version1 : version2;
}

export function attemptVersion2(text: string, keywords: readonly number[]): Attempt {
  return attempt(parse, text, { sign: "#", offsets: keywords });
}

type Parse = (text: string, options: { storeLocations: boolean }) => Document;
interface Inserts {
  readonly sign: string;
  readonly offsets: readonly number[];
}

function attempt(read: Parse, text: string, inserts: Inserts): Attempt {
  const original = beforeInserting(inserts.offsets);
  // The library makes an error of every mistake. Their stacks, which nobody sees, would take most of the time.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return { ...readPlaced(read, insert(text, inserts)), errors: [], original };
  } catch (error) {
    // The library stumbles over some texts that end too early, with an error that says nothing of the text.
    if (error instanceof TypeError || error instanceof RangeError)
      return { document: null, offsets: [], errors: [], original };
    if (!(error instanceof InvalidKdlError)) throw error;
    return { document: null, offsets: [], errors: [...error.flat()].filter(isAboutText), original };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function readPlaced(read: Parse, text: string): Pick<Attempt, "document" | "offsets"> {
  const document = read(text, { storeLocations: false });
  const offsets = countOffsets(document, text);
  if (offsets !== null) return { document, offsets };
  const placed = read(text, { storeLocations: true });
  return { document: placed, offsets: storedOffsets(placed) };
}

function isAboutText({ message }: InvalidKdlError): boolean {
  return !message.startsWith("An unexpected error occurred");
}

function insert(text: string, { sign, offsets }: Inserts): string {
  const parts = offsets.map((offset, index) => text.slice(offsets[index - 1] ?? 0, offset) + sign);
  return parts.join("") + text.slice(offsets.at(-1) ?? 0);
}
