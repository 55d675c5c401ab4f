import { realpathSync } from "node:fs";
import { relative } from "node:path";

/** From the current folder where that is shorter, else from the root: for whoever looks for the file. */
export function shortPath(cwd: string, file: string): string {
  const near = relative(realpathSync(cwd), file);
  return near.length < file.length ? near : file;
}
