import { dirname } from "node:path";
import { isMirrorWhole, whyDamaged } from "../git/mirror/mirror-health.js";
import { exists, namesIn } from "../lib/files.js";
import type { Home } from "../lib/home.js";
import { isIssues } from "./worktrees.js";

export interface MirrorHealth {
  readonly path: string;
  /** What is wrong with it; null: nothing. */
  readonly trouble: string | null;
}

/**
 * At a glance, or, `thorough`, at every object: then what is found is mended when it is opened next. null: there is none,
 * and nothing that needs one.
 */
export async function lookAtMirror(
  home: Home,
  projectId: string,
  { thorough = false } = {},
): Promise<MirrorHealth | null> {
  const path = home.mirror(projectId);
  const isThere = await exists(path);
  const worktrees = namesIn(dirname(home.worktree(projectId, "any"))).filter(isIssues);
  if (!isThere && worktrees.length === 0) return null;
  if (isThere && isMirrorWhole(path)) return { path, trouble: thorough ? await whyDamaged(path) : null };
  const left = worktrees.length === 0 ? "" : `, the files of ${listed(worktrees)} are there`;
  return { path, trouble: `${path} ${isThere ? "is damaged" : "is gone"}${left}` };
}

function listed(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
}
