import { resolve } from "node:path";
import type { Writing } from "../paths.js";
import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { printable } from "../shell/unknown.js";

/** Where a path may lead: from each folder in which the command may run. */
export function placesOf({ state }: Call, path: string): readonly string[] {
  if (path.startsWith("/")) return [path];
  // Nobody knows whether it is absolute.
  if (/^[\uE000\uE006\uE007]/.test(path)) return [`/${path}`];
  return state.cwds.map((cwd) => `${cwd}/${path}`);
}

export function mustWrite(call: Call, path: string, how: Writing = "writes"): void {
  if (path === "") return;
  const { paths, links } = call.shell.session;
  for (const place of placesOf(call, path)) {
    const reason = paths.refusesWrite(place, how) ?? throughLink(place, links, how);
    if (reason !== null) refuse(`${call.name}: ${printable(path)} may not be written: ${reason}`);
  }
}

export function mustRead(call: Call, path: string): void {
  if (path === "" || path.length > 4096 || path.includes("\n")) return;
  const { paths } = call.shell.session;
  for (const place of placesOf(call, path)) {
    const reason = paths.refusesRead(place);
    if (reason !== null) refuse(`${call.name}: ${printable(path)} may not be read: ${reason}`);
  }
}

/** A program that reads everything below a folder. */
export function mustReadBelow(call: Call, path: string): void {
  const { paths } = call.shell.session;
  for (const place of placesOf(call, path)) {
    const reason = paths.refusesReadBelow(place);
    if (reason !== null) refuse(`${call.name}: ${printable(path)} may not be read as a whole: ${reason}`);
  }
}

/** A link made by the same line is not there yet: nobody can say where a path through it leads. */
function throughLink(place: string, links: ReadonlySet<string>, how: Writing): string | null {
  const path = resolve(place);
  for (const link of links) {
    if (path.startsWith(`${link}/`) || (path === link && how !== "removes")) {
      return "it goes through a link that the same command makes; use two commands";
    }
  }
  return null;
}
