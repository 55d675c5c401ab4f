import type { Store } from "../app.js";
import { Refusal } from "../lib/errors.js";
import { type Context, knownProject } from "./context.js";

export interface ScopeOptions {
  readonly project?: string;
  readonly all?: boolean;
}

/** Whose board a command looks at: the named project's, else this folder's; null: all of them. Looking registers nothing. */
export async function boardScope(context: Context, store: Store, options: ScopeOptions): Promise<string | null> {
  const { project, all } = options;
  if (project === undefined) return all ? null : ((await knownProject(context, store))?.id ?? null);
  const known = (await store.projects()).some(({ id }) => id === project);
  if (known) return project;
  throw new Refusal(`no project ${project}`, { code: "not-found", hint: "ratchet project list shows them" });
}
