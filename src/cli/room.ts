import type { Room } from "../views/columns.js";
import type { Output } from "./output.js";

/** Latin letters and the common marks: each takes one cell. Told without the library that knows all others, which takes longer to load than most commands. */
export const plain = /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027]*$/;

/** How wide a table may be. Outside of a terminal nothing is cut, unless COLUMNS says so. `content`: all that it is made of, where that is known. */
export async function roomOf(out: Output, content?: unknown): Promise<Room> {
  const isPlain = content !== undefined && plain.test(JSON.stringify(content));
  const width = isPlain ? (text: string) => text.length : (await import("string-width")).default;
  return { columns: out.tableColumns, width };
}
