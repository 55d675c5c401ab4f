import { realpathSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { gitDirFor } from "../../git/checkout/checkout.js";
import { resolveHead } from "../../git/head.js";
import { Bug } from "../../lib/errors.js";
import type { Checkout, WorkflowContext } from "./context.js";
import { isNoPath } from "./find.js";

/** Where a stage works: the workspace that was made for it, or the checkout. */
export async function placeOf(context: WorkflowContext, workspace: string | null): Promise<Checkout> {
  if (workspace === null) return context.checkout;
  const found = context.life().state.workspaces[workspace];
  if (found === undefined) throw new Bug(`there is no workspace ${workspace}`);
  return { path: found.path, gitDirs: [gitDirFor(await context.run.mirror(), found.path)] };
}

/** null: it leads out of the place, or there is no such folder. */
export function folderIn(place: string, cwd: string | null): string | null {
  if (cwd === null) return place;
  try {
    const path = realpathSync(resolve(place, cwd));
    const way = relative(realpathSync(place), path);
    return way === ".." || way.startsWith(`..${sep}`) || way.startsWith(sep) ? null : path;
  } catch (error) {
    if (isNoPath(error)) return null;
    throw error;
  }
}

/** The commit a place is at, as far as its files tell. */
export async function headOf({ path, gitDirs: [gitDir] }: Checkout): Promise<string | null> {
  return resolveHead(gitDir ?? join(path, ".git"));
}
