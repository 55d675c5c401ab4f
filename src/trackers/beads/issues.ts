import { unknownSource } from "../../core/follow-up.js";
import type { Issue, ItemStatus } from "../../core/ports/tracker.js";
import { ExternalError } from "../../lib/errors.js";
import { type Answer, type Beads, pauseAfter } from "./program.js";
import { type Bead, readBeads } from "./read.js";

/** Labels are how an issue's fate is told to people; `stopped` keeps what a run had begun ahead of what is new. */
export const labels = {
  failed: "needs-followup",
  escalated: "human-review",
  stopped: "ratchet-stopped",
  followUp: "review-followup",
} as const;

/** More than anyone has: both programs cut their lists after 10 to 50 issues unless told otherwise. */
const everything = "--limit=10000";
const batch = 40;

/** Open, not waiting for another, in the tracker's order of priority. Lists may leave out labels, links and texts. */
export async function listReady(beads: Beads): Promise<Bead[]> {
  return list(beads, ["ready", "--sort=priority", everything]);
}

export async function listWhere(beads: Beads, filter: `--${string}`): Promise<Bead[]> {
  return list(beads, ["list", filter, everything]);
}

async function list(beads: Beads, args: readonly string[]): Promise<Bead[]> {
  const listed = readBeads((await beads.call(args)).stdout, beads.nameOf(args));
  return listed.filter(({ id }) => beads.canName(id));
}

/** Both programs also take a part of an id for the whole: only the issue asked for counts. */
export async function showBead(beads: Beads, id: string): Promise<Bead | null> {
  if (id === "" || !beads.canName(id)) return null;
  const args = ["show", id];
  const { code, stdout } = await beads.call(args, { isAnswer: (failure) => saysNotFound(failure, id) });
  if (code !== 0) return null;
  return readBeads(stdout, beads.nameOf(args)).find((bead) => bead.id === id) ?? null;
}

const looks = 3;

/** One that was claimed is there: a program that does not know it is asked again before it is believed. */
export async function showClaimed(beads: Beads, id: string): Promise<Bead | null> {
  for (let failures = 1; ; failures++) {
    const bead = await showBead(beads, id);
    if (bead !== null || failures >= looks) return bead;
    await beads.wait(beads.nameOf(["show", id]), (signal) => pauseAfter(failures, signal));
  }
}

/** An answer without it is a call that failed, neither somebody else's claim nor an issue that needs no telling. */
export async function showKnown(beads: Beads, id: string, as: "claimed" | "changed"): Promise<Bead> {
  const bead = await showClaimed(beads, id);
  if (bead !== null) return bead;
  const call = beads.nameOf(["show", id]);
  throw new ExternalError("tracker", `${call} does not know the issue that was ${as}`, { retryable: true });
}

/** "No database found" is no answer about an issue. */
function saysNotFound({ words, said }: Answer, id: string): boolean {
  if (/database|workspace|repository|directory|tracker|\binit/i.test(words)) return false;
  if (/issue[ _]not[ _]found|\b(no|find|unknown) (such )?issues?\b/i.test(said)) return true;
  if (/^\W*(error\W+)?not[ _]found\W*$/i.test(words)) return true;
  return /not[ _]found|does not exist|no such/i.test(said) && said.includes(id);
}

/** What `list` names, as `showAll` has it. That all of it is gone is not believed while it is still listed. */
export async function* showListed(beads: Beads, list: () => Promise<readonly Bead[]>): AsyncGenerator<Bead> {
  for (let failures = 1; ; failures++) {
    const ids = (await list()).map(({ id }) => id);
    let isAnyShown = ids.length === 0;
    for await (const bead of showAll(beads, ids)) {
      isAnyShown = true;
      yield bead;
    }
    if (isAnyShown) return;
    const call = beads.nameOf(["show"]);
    if (failures >= looks) {
      throw new ExternalError("tracker", `${call} knows none of the issues that are listed: ${ids.join(", ")}`, {
        retryable: true,
      });
    }
    await beads.wait(call, (signal) => pauseAfter(failures, signal));
  }
}

/** With everything there is to know of each, a batch at a time; one that is gone by then is left out. */
export async function* showAll(beads: Beads, ids: readonly string[]): AsyncGenerator<Bead> {
  for (let from = 0; from < ids.length; from += batch) {
    const some = ids.slice(from, from + batch);
    const shown = new Map((await showSome(beads, some)).map((bead) => [bead.id, bead]));
    for (const id of some) {
      const bead = shown.get(id);
      if (bead) yield bead;
    }
  }
}

async function showSome(beads: Beads, ids: readonly string[]): Promise<Bead[]> {
  const args = ["show", ...ids];
  const { code, stdout } = await beads.call(args, {
    isAnswer: (failure) => ids.some((id) => saysNotFound(failure, id)),
  });
  if (code === 0) return readBeads(stdout, beads.nameOf(["show"]));
  const found: Bead[] = [];
  for (const id of ids) {
    const bead = await showBead(beads, id);
    if (bead) found.push(bead);
  }
  return found;
}

export function isClosed(status: string | null): boolean {
  return status === "closed" || status === "tombstone";
}

export function toIssue(bead: Bead): Issue {
  return {
    id: bead.id,
    title: bead.title,
    body: bodyOf(bead),
    type: bead.type === "epic" ? "epic" : "task",
    parent: bead.parent,
    deps: bead.blockers.map(({ id }) => id),
    priority: Math.min(bead.priority, 3),
    status: statusOf(bead),
    followUpOf: followedBy(bead),
  };
}

function bodyOf({ description, design, acceptance, notes }: Bead): string {
  const sections = [
    ["Design", design],
    ["Acceptance criteria", acceptance],
    ["Notes", notes],
  ].flatMap(([title, text]) => (text === "" ? [] : [`## ${title}\n\n${text}`]));
  return [...(description === "" ? [] : [description]), ...sections].join("\n\n");
}

function statusOf(bead: Bead): ItemStatus {
  if (isClosed(bead.status)) return "completed";
  if (bead.status === "in_progress" || bead.status === "hooked") return "claimed";
  if (bead.labels.includes(labels.escalated)) return "waiting_for_response";
  if (bead.labels.includes(labels.failed)) return "failed";
  return bead.status === "open" ? "available" : "blocked";
}

/** Hidden in the description of a follow-up: whose findings it collects. */
export function followUpMark(source: string): string {
  return `<!-- ratchet:follow-up-of:${source} -->`;
}

/** A description that somebody has written anew, or that the program did not keep, says nothing: the label does. */
function followedBy({ description, labels: given }: Bead): string | null {
  const source = /<!-- ratchet:follow-up-of:(.+?) -->/.exec(description)?.[1];
  return source ?? (given.includes(labels.followUp) ? unknownSource : null);
}
