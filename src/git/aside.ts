import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../lib/errors.js";

/** Files that were found where a checkout had to be made: nobody knows whose they are, so they are kept beside it. */
export interface Aside {
  /** Of the checkout they were in the way of. */
  readonly name: string;
  readonly path: string;
}

export async function listAside(folder: string): Promise<Aside[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  return names.sort().flatMap((name) => {
    const of = /^(.+)\.aside-[0-9a-f]{8}$/.exec(name)?.[1];
    return of === undefined ? [] : [{ name: of, path: join(folder, name) }];
  });
}
