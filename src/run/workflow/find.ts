import { statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { codeOf } from "../../lib/errors.js";
import { namesIn } from "../../lib/files.js";

/** Where workflows are looked up by name. */
export interface WorkflowPlace {
  readonly cwd: string;
  /** Top of the checkout; null: there is none. */
  readonly root: string | null;
  /** The state home. */
  readonly home: string;
  /** The folder of those that come with Ratchet. */
  readonly shipped: string;
}

export interface NamedWorkflow {
  readonly name: string;
  readonly file: string;
  readonly from: "project" | "home" | "shipped";
}

/** The first of them makes the name; an older spelling of a file is read too. */
const endings = [".awf.kdl", ".kdl", ".dot", ".gv"];

/** Files named outright, else a name in the folders below, nearest first; null: there is none. */
export function findWorkflow(place: WorkflowPlace, what: string): string | null {
  const file = resolve(place.cwd, what);
  if (isFile(file)) return file;
  if (what.includes("/")) return null;
  for (const { folder } of foldersOf(place)) {
    const found = ["", ...endings].map((ending) => join(folder, `${what}${ending}`)).find(isFile);
    if (found !== undefined) return found;
  }
  return null;
}

/** Every workflow that a name reaches, in the order of the search; what a nearer one hides is left out. */
export function listWorkflows(place: WorkflowPlace): NamedWorkflow[] {
  const known = new Map<string, NamedWorkflow>();
  for (const { folder, from } of foldersOf(place)) {
    for (const entry of namesIn(folder).sort()) {
      const name = nameOf(entry);
      const file = join(folder, entry);
      if (name !== null && !known.has(name) && isFile(file)) known.set(name, { name, file, from });
    }
  }
  return [...known.values()];
}

/** The folders that a name is looked up in, nearest first. */
export function workflowFolders(place: WorkflowPlace): string[] {
  return foldersOf(place).map(({ folder }) => folder);
}

function nameOf(entry: string): string | null {
  const ending = endings.find((one) => entry.endsWith(one));
  return ending === undefined ? null : basename(entry, ending);
}

function foldersOf({ cwd, root, home, shipped }: WorkflowPlace): { folder: string; from: NamedWorkflow["from"] }[] {
  const tops = root === null || root === cwd ? [cwd] : [cwd, root];
  const own = tops.flatMap((top) => [join(top, ".ratchet", "workflows"), join(top, ".attractor", "workflows")]);
  return [
    ...own.map((folder) => ({ folder, from: "project" as const })),
    { folder: join(home, "workflows"), from: "home" },
    { folder: shipped, from: "shipped" },
  ];
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch (error) {
    if (isNoPath(error)) return false;
    throw error;
  }
}

/** Nothing can be there: a link to itself, a name that no file can have, a place that may not be looked at. */
export function isNoPath(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && noPath.has(code);
}

const noPath = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG", "ERR_INVALID_ARG_VALUE"]);
