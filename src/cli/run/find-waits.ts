import type { App } from "../../app.js";
import { type Named, type NotReady, whyNotReady } from "../../core/not-ready.js";
import type { Issue, Tracker } from "../../core/ports/tracker.js";
import { runPolicy, seesToEpic } from "../../core/run/policy.js";
import type { RunPolicy } from "../../core/run/step.js";
import type { Settings } from "../../core/settings.js";
import type { Wanted } from "./request.js";

interface Place {
  readonly app: Pick<App, "unmerged">;
  readonly tracker: Pick<Tracker, "get" | "epics">;
  readonly settings: Settings;
  readonly wanted: Wanted;
}

/**
 * Of the issues that were named and have nothing else against them, those that wait for another. One that is named too
 * is no obstacle, unless something is against it: then the run does not do it, and what waits for it cannot run either.
 */
export async function findWaits(
  place: Place,
  named: readonly Named[],
  against: ReadonlyMap<string, NotReady>,
): Promise<Map<string, NotReady>> {
  const waits = new Map<string, NotReady>();
  // On a branch of its own, what is done makes nothing ready before it is merged.
  const willRun = (id: string) =>
    place.settings.finalize.mode !== "branch" &&
    named.some(({ issue }) => issue.id === id) &&
    !against.has(id) &&
    !waits.has(id);
  const open = named.filter(({ issue }) => !against.has(issue.id) && ["available", "failed"].includes(issue.status));
  const get = remember((id) => place.tracker.get(id));
  const children = remember(async (epic) => (await place.tracker.epics?.children(epic)) ?? []);
  const policy = runPolicy(place.settings, { ...place.wanted, maxIssues: place.settings.max_issues });
  for (let found = true; found; ) {
    found = false;
    for (const one of open.filter(({ issue }) => !waits.has(issue.id))) {
      const wait = await waitOf(place, one, { willRun, get, children, policy });
      if (wait === null) continue;
      waits.set(one.issue.id, wait);
      found = true;
    }
  }
  return waits;
}

interface Asked {
  readonly willRun: (id: string) => boolean;
  readonly get: (id: string) => Promise<Issue | null>;
  readonly children: (epic: string) => Promise<readonly Issue[]>;
  readonly policy: RunPolicy;
}

async function waitOf({ app, settings, tracker }: Place, named: Named, asked: Asked): Promise<NotReady | null> {
  const { deps } = named.issue;
  const missing: string[] = [];
  for (const id of deps) {
    const dep = await asked.get(id);
    if (dep !== null && !(await willBeDone(dep, asked))) missing.push(id);
  }
  const unmerged = missing.length > 0 ? [] : await app.unmerged(settings, deps, tracker);
  return whyNotReady(named, { resume: true, missing, unmerged });
}

/**
 * An epic is completed with the last of its children and of what it depends on; a run of named issues looks only above
 * those, so one whose children are all done stays open. One that waits for itself (`above`) is never completed.
 */
async function willBeDone(issue: Issue, asked: Asked, above: readonly string[] = []): Promise<boolean> {
  const { id, type, status, deps } = issue;
  if (status === "completed" || type !== "epic") return status === "completed" || asked.willRun(id);
  if (above.includes(id)) return false;
  const children = await asked.children(id);
  if (!seesToEpic(asked.policy, { status, isInScope: false, children })) return false;
  const before = await Promise.all(deps.map(asked.get));
  for (const each of [...children, ...before]) {
    if (each !== null && !(await willBeDone(each, asked, [...above, id]))) return false;
  }
  return true;
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
