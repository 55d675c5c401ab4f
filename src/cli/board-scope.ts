import type { Store, StoredRun } from "../app.js";
import { Refusal } from "../lib/errors.js";
import { type Context, findRoot } from "./context.js";
import { typed } from "./typed.js";

export interface ScopeOptions {
  readonly project?: string;
  readonly all?: boolean;
}

/** Looking registers nothing, so a repository may be unknown: then it has no board yet, and nobody else's is shown. */
export type BoardScope =
  | { readonly type: "all" }
  | { readonly type: "project"; readonly id: string }
  | { readonly type: "unknown"; readonly root: string };

/** Whose board a command looks at: the named project's, else this folder's; outside of a repository all of them. */
export async function boardScope(context: Context, store: Store, options: ScopeOptions): Promise<BoardScope> {
  const { project, all } = options;
  if (project === undefined) return all ? { type: "all" } : await scopeHere(context, store);
  const known = (await store.projects()).some(({ id }) => id === project);
  if (known) return { type: "project", id: project };
  throw new Refusal(`no project ${typed(project)}`, { code: "not-found", hint: "ratchet project list shows them" });
}

async function scopeHere({ cwd }: Context, store: Store): Promise<BoardScope> {
  const root = findRoot(cwd);
  if (root === null) return { type: "all" };
  const project = await store.projectAt(root);
  return project === null ? { type: "unknown", root } : { type: "project", id: project.id };
}

/** What is asked about one project or, with null, about all of them; where the repository is unknown, an id that none has. */
export function idOf(scope: BoardScope): string | null {
  if (scope.type === "all") return null;
  return scope.type === "project" ? scope.id : "";
}

/** The run that a command names: `last` is the newest of this folder's repository; an id may be that of any. */
export async function findRun(context: Context, store: Store, which: string): Promise<StoredRun> {
  return await store.run(which, idOf(await scopeHere(context, store)));
}

/** The projects meant, and a word to whoever expected to see others'. */
export async function projectsIn({ out }: Context, store: Store, scope: BoardScope): Promise<string[]> {
  if (scope.type === "project") return [scope.id];
  if (scope.type === "all") return (await store.projects()).map(({ id }) => id);
  out.note(unknownYet(scope.root));
  return [];
}

export function unknownYet(root: string): string {
  return `${root} is not known yet: ratchet work add or ratchet run makes it a project; --all looks at every project`;
}
