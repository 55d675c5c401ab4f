import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { codeOf } from "./errors.js";

export type Executable =
  | { readonly state: "found"; readonly path: string }
  | { readonly state: "not-executable"; readonly path: string }
  | { readonly state: "missing" };

/** Where a program is, as a shell would look: a name on PATH, anything with a slash as a path below `cwd`. */
export function findExecutable(name: string, path: string, cwd: string): Executable {
  if (name.includes("/")) return look(resolve(cwd, name));
  let blocked: Executable = { state: "missing" };
  for (const folder of path.split(delimiter)) {
    const seen = look(join(resolve(cwd, folder), name));
    if (seen.state === "found") return seen;
    if (seen.state === "not-executable") blocked = seen;
  }
  return name === "" ? { state: "missing" } : blocked;
}

function look(path: string): Executable {
  try {
    if (!statSync(path).isFile()) return { state: "missing" };
    accessSync(path, constants.X_OK);
    return { state: "found", path };
  } catch (error) {
    return codeOf(error) === "EACCES" ? { state: "not-executable", path } : { state: "missing" };
  }
}
