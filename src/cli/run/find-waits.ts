import type { App } from "../../app.js";
import type { Issue, Tracker } from "../../core/ports/tracker.js";
import type { Settings } from "../../core/settings.js";
import { shellWord } from "../../views/shell-word.js";

interface Place {
  readonly app: Pick<App, "unmerged">;
  readonly tracker: Pick<Tracker, "get" | "epics">;
  readonly settings: Settings;
}

/**
 * Of the issues that were named and have nothing else against them, those that wait for another. One that is named too
 * is no obstacle, unless something is against it: then the run does not do it, and what waits for it cannot run either.
 */
export async function findWaits(
  place: Place,
  named: readonly Issue[],
  against: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const waits = new Map<string, string>();
  // On a branch of its own, what is done makes nothing ready before it is merged.
  const willRun = (id: string) =>
    place.settings.finalize.mode !== "branch" &&
    named.some((one) => one.id === id) &&
    !against.has(id) &&
    !waits.has(id);
  const open = named.filter(({ id, status }) => !against.has(id) && (status === "available" || status === "failed"));
  const get = remember((id) => place.tracker.get(id));
  const children = remember(async (epic) => (await place.tracker.epics?.children(epic)) ?? []);
  for (let found = true; found; ) {
    found = false;
    for (const issue of open.filter(({ id }) => !waits.has(id))) {
      const reason = await waitOf(place, issue, { willRun, get, children });
      if (reason === null) continue;
      waits.set(issue.id, reason);
      found = true;
    }
  }
  return waits;
}

interface Asked {
  readonly willRun: (id: string) => boolean;
  readonly get: (id: string) => Promise<Issue | null>;
  readonly children: (epic: string) => Promise<readonly Issue[]>;
}

async function waitOf({ app, settings, tracker }: Place, { deps }: Issue, asked: Asked): Promise<string | null> {
  const missing: string[] = [];
  for (const id of deps) {
    const dep = await asked.get(id);
    if (dep !== null && !(await willBeDone(dep, asked))) missing.push(id);
  }
  if (missing.length > 0) return `blocked by ${missing.join(", ")}`;
  const [first] = await app.unmerged(settings, deps, tracker);
  return first === undefined
    ? null
    : `${first.id} is on ${first.branch} and not merged yet, use ratchet land ${shellWord(first.id)}`;
}

/** An epic is completed with the last of its children. */
async function willBeDone({ id, type, status }: Issue, asked: Asked): Promise<boolean> {
  if (status === "completed" || type !== "epic") return status === "completed" || asked.willRun(id);
  const children = await asked.children(id);
  for (const child of children) if (!(await willBeDone(child, asked))) return false;
  return children.length > 0;
}

/** Some trackers start a program for each question. */
function remember<T>(ask: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const told = new Map<string, Promise<T>>();
  return (id) => {
    const answer = told.get(id) ?? ask(id);
    told.set(id, answer);
    return answer;
  };
}
