import { type Mirror, openMirror } from "../git/mirror/mirror.js";
import type { Home } from "../lib/home.js";
import { requirePlaces } from "../lib/home-places.js";

export interface ProjectMirror {
  readonly home: Home;
  readonly projectId: string;
  readonly repoPath: string;
  /** Hears what had to be done to it, in one line. */
  readonly tell: (text: string) => void;
}

/** Whoever works in worktrees begins here. */
export async function openProjectMirror({ home, projectId, repoPath, tell }: ProjectMirror): Promise<Mirror> {
  requirePlaces(home, projectId);
  return await openMirror({ repoPath, mirrorPath: home.mirror(projectId), tell });
}
