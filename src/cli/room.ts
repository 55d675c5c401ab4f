import type { Room } from "../views/columns.js";
import type { Output } from "./output.js";

/** How wide a table may be. Outside of a terminal nothing is cut. */
export async function roomOf(out: Output): Promise<Room> {
  const { default: width } = await import("string-width");
  return { columns: out.isTerminal ? out.columns : null, width };
}
