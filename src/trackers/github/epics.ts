import type { EpicName, Epics } from "../../core/ports/tracker.js";
import type { Github } from "../../lib/github-client/client.js";
import type { Claims } from "./claims.js";
import { changeIssue, type Found, findIssue, isEpic, labels, listIssues, toIssue } from "./issues.js";
import type { Notes } from "./notes.js";
import { Known } from "./ready.js";

interface EpicParts {
  readonly claims: Claims;
  readonly notes: Notes;
  /** Whose issues count as they are. */
  readonly isWork: (found: Found) => Promise<boolean>;
}

/**
 * Epics are issues with the label. Their children name them, so all issues are looked at, closed ones too; that is asked
 * for only where there is an open epic, and costs nothing while nothing has changed.
 */
export function openEpics(github: Github, { claims, notes, isWork }: EpicParts): Epics {
  const childrenIn = async (all: readonly Found[], epic: string): Promise<Found[]> => {
    const named = all.filter(({ parent, isPull }) => parent === epic && !isPull);
    // Whoever may make a sub-issue may decide that; a line in a text anybody can write.
    const count = await Promise.all(named.map((each) => each.wire.parent_issue_url != null || isWork(each)));
    return named.filter((_, index) => count[index]);
  };
  const isDue = async (found: Found, all: readonly Found[]): Promise<boolean> => {
    if (!isEpic(found) || !found.isOpen) return false;
    const children = await childrenIn(all, found.id);
    if (children.length === 0 || children.some(({ isOpen }) => isOpen)) return false;
    return !(await new Known(github, all).waits(found));
  };
  const listAll = () => listIssues(github, { state: "all" });
  const claim = async (epic: string, holder: string): Promise<boolean> => {
    const found = await findIssue(github, epic);
    return found !== null && (await isDue(found, await listAll())) && (await claims.claimEpic(epic, holder));
  };
  return {
    claim,
    children: async (epic) => (await childrenIn(await listAll(), epic)).map(toIssue),
    due: async ({ scope, holder }) => {
      const open = (await listIssues(github, { state: "open", labels: labels.epic })).filter((each) => !each.isPull);
      if (open.length === 0) return [];
      const all = await listAll();
      const known = new Known(github, all);
      const due: EpicName[] = [];
      for (const epic of open) {
        if (!(await isDue(epic, all))) continue;
        const isWithin = (scope.type === "epic" && scope.epic === epic.id) || (await known.isIn(epic, scope));
        if (isWithin && (await isFree(claims, epic, holder))) due.push({ id: epic.id, isTop: epic.parent === null });
      }
      return due;
    },
    complete: async (epic, holder, note) => {
      const found = await findIssue(github, epic);
      if (found !== null && !found.isOpen) return notes.hasTold(epic, `done:${holder}`);
      if (!(await claim(epic, holder))) return false;
      const held = await claims.held(epic, holder, { isTold: () => false });
      if (held === null) return false;
      await notes.tell(epic, { key: `done:${holder}`, text: note === "" ? "Completed." : note });
      await changeIssue(github, epic, { state: "closed", state_reason: "completed" });
      await claims.letGo(held, holder);
      return true;
    },
    release: async (epic, holder) => {
      if ((await claims.holderOf(epic)) !== holder) return;
      const found = await findIssue(github, epic);
      if (found !== null) await claims.letGo(found, holder);
    },
  };
}

async function isFree(claims: Claims, epic: Found, holder: string): Promise<boolean> {
  if (!epic.labels.includes(labels.claimed)) return true;
  return (await claims.holderOf(epic.id)) === holder || (await claims.isIdle(epic));
}
