import type { Project, Store } from "../../app.js";
import type { Issue } from "../../core/ports/tracker.js";
import type { RunOptions } from "../../core/run/effects.js";

interface Asked {
  readonly store: Store;
  readonly project: Project;
  readonly wanted: Pick<RunOptions, "only">;
}

/** Where no agent starts, there must be something that an earlier life has left. */
export async function isMeant({ store, project, wanted }: Asked, id: string): Promise<boolean> {
  return wanted.only !== "check" || (await store.lastRecord(project.id, id)) !== null;
}

export async function meantOf(asked: Asked, issues: readonly Issue[]): Promise<Issue[]> {
  const meant = await Promise.all(issues.map(({ id }) => isMeant(asked, id)));
  return issues.filter((_one, index) => meant[index]);
}
