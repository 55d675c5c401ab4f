import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type App, createApp, type Project, type Store } from "../app.js";
import { Refusal } from "../lib/errors.js";
import type { Output } from "./output.js";
import { typed } from "./typed.js";

/** What every command is given. */
export interface Context {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
  readonly app: App;
}

/** A command with its arguments, ready to run; what it returns is the exit code. */
type Action = (context: Context) => Promise<number>;

/** The exit code when something outside of Ratchet fails; `tracker`: 3 when it is that, 1 for the rest, as of any command that only looks. */
export type External = 1 | 3 | "tracker";

/** What the command line asks for. */
export interface Chosen {
  readonly action: Action;
  readonly external: External;
}

export type Choose = (action: Action, external?: External) => void;

export function createContext(at: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }, out: Output): Context {
  return { ...at, out, app: createApp(at) };
}

/** The top of the checkout around a folder, found without starting git; null: there is none. */
export function findRoot(cwd: string): string | null {
  for (let folder = realpathSync(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git")) || isBare(folder)) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** A repository without a checkout is its own top; the one of a checkout is not. */
function isBare(folder: string): boolean {
  return basename(folder) !== ".git" && ["objects", "refs", "HEAD"].every((name) => existsSync(join(folder, name)));
}

/** The current directory's project where it is known already: looking registers nothing. */
export async function knownProject({ cwd }: Context, store: Store): Promise<Project | null> {
  const root = findRoot(cwd);
  return root === null ? null : await store.projectAt(root);
}

/** The one named by `--project`, else the current directory's, registered on first use. */
export async function chooseProject({ app }: Context, name: string | undefined): Promise<Project> {
  if (name === undefined) return await app.project();
  const project = (await (await app.store()).projects()).find(({ id }) => id === name);
  if (project === undefined) {
    throw new Refusal(`no project ${typed(name)}`, { code: "not-found", hint: "ratchet project list shows them" });
  }
  return project;
}
