import type { Room } from "../views/columns.js";
import type { Output } from "./output.js";

/** Each of these takes one cell. Told without the library that knows all others, which is slow to load. */
const plain = /^[\x20-\x7e]*$/;

/** How wide a table may be. Outside of a terminal nothing is cut, unless COLUMNS says so. `texts`: what it is made of, where that is known. */
export async function roomOf(out: Output, texts?: string): Promise<Room> {
  const isPlain = texts !== undefined && plain.test(texts);
  const width = isPlain ? (text: string) => text.length : (await import("string-width")).default;
  return { columns: out.tableColumns, width };
}
