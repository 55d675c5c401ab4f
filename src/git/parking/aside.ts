import { join } from "node:path";
import { namesIn } from "../../lib/files.js";

/** Files that were found where a checkout had to be made: nobody knows whose they are, so they are kept beside it. */
export interface Aside {
  /** Of the checkout they were in the way of. */
  readonly name: string;
  readonly path: string;
}

export async function listAside(folder: string): Promise<Aside[]> {
  return namesIn(folder)
    .sort()
    .flatMap((name) => {
      const of = /^(.+)\.aside-[0-9a-f]{8}$/.exec(name)?.[1];
      return of === undefined ? [] : [{ name: of, path: join(folder, name) }];
    });
}
