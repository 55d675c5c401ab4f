import type { Epics, Issue } from "../core/ports/tracker.js";
import { commonBase } from "../git/objects/merge-base.js";
import type { ChildText } from "../prompts/sections.js";
import type { RunContext } from "./context.js";

/** More than this is no epic that anybody could verify in one go; the list says what it has. */
const issuesMax = 500;

/** The issues of an epic and of the epics in it, with what is known of how they landed. */
export async function issuesOfEpic(run: RunContext, epic: string): Promise<ChildText[]> {
  const issues = run.tracker.epics ? await tasksBelow(run.tracker.epics, epic) : [];
  return await Promise.all(
    issues.map(async ({ id, title }) => ({ id, title, commit: (await run.history.landed(id))?.commit ?? null })),
  );
}

/** Where the change of an epic starts: before the first of its issues began. null: none of them is known. */
export async function baseOfEpic(run: RunContext, epic: string, tip: string): Promise<string | null> {
  const issues = run.tracker.epics ? await tasksBelow(run.tracker.epics, epic) : [];
  const landed = await Promise.all(issues.map(({ id }) => run.history.landed(id)));
  const bases = landed.flatMap((one) => (one === null ? [] : [one.baseSha]));
  return await commonBase(run.mirror, bases, tip);
}

async function tasksBelow(epics: Epics, top: string): Promise<Issue[]> {
  const seen = new Set([top]);
  const tasks: Issue[] = [];
  for (const epic of seen) {
    for (const child of await epics.children(epic)) {
      if (child.type === "epic") seen.add(child.id);
      else if (tasks.length < issuesMax) tasks.push(child);
    }
  }
  return tasks;
}
