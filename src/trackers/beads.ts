import type { Asker, Tracker } from "../core/ports/tracker.js";
import { change, hasChanged } from "./beads/change.js";
import { assigneeOf, isHeld, openClaims, type TakeOver } from "./beads/claims.js";
import { openEpics } from "./beads/epics.js";
import { writeFollowUp } from "./beads/follow-up.js";
import { readIssue } from "./beads/freed.js";
import { isClosed, labels, showBead } from "./beads/issues.js";
import { type BeadsPlace, openBeads } from "./beads/program.js";
import type { Bead } from "./beads/read.js";
import { readReady } from "./beads/ready.js";
import { readStanding } from "./beads/standing.js";
import { openStrangers, type Strangers } from "./beads/strangers.js";

export { endLeftCalls } from "./beads/calls.js";
export { missingBeads } from "./beads/program.js";

/**
 * Issues in beads. The tracker's own words tell what became of each: closed with the commit, `needs-followup` with a
 * note, `human-review`; people and other tools read them without Ratchet. Telling an end twice changes nothing.
 */
export function beadsTracker(place: BeadsPlace, takeOver: TakeOver | null = null): Tracker {
  return openTracker({ place, takeOver, strangers: openStrangers(takeOver?.noteFolder ?? null) }, null);
}

type Told = readonly [command: "update" | "close", ...options: string[]];

interface Parts {
  readonly place: BeadsPlace;
  readonly takeOver: TakeOver | null;
  readonly strangers: Strangers;
}

function openTracker(parts: Parts, asker: Asker | null): Tracker {
  const { place, takeOver, strangers } = parts;
  const beads = openBeads(place, asker);
  const claims = openClaims(beads, takeOver, strangers);
  const tell = (id: string, holder: string, call: Told, isHeard: (now: Bead) => boolean): Promise<void> =>
    change(beads, { id, args: [call[0], id, ...call.slice(1)], actor: assigneeOf(holder) }, isHeard);
  const release = async (bead: Bead, holder: string, ...more: string[]): Promise<void> => {
    const { id } = bead;
    await tell(id, holder, ["update", "--status=open", "--assignee=", ...more], (now) => hasChanged(bead, now));
    await strangers.forget({ id, holder });
  };
  /** Label and note first: between the two calls the issue is still held, so nobody sees it free and unmarked. */
  const giveUp = async (id: string, holder: string, end: { label: string; word: string; reason: string }) => {
    const isTold = (now: Bead | null) => now?.status === "open" && now.labels.includes(end.label);
    const bead = await claims.held(id, holder, { isTold });
    if (bead === null) return;
    const notes = withNote(bead, `Ratchet run ${holder} ${end.word}: ${end.reason} (ratchet logs show ${holder})`);
    await tell(id, holder, ["update", `--add-label=${end.label}`, `--notes=${notes}`], ({ labels: given }) => {
      return given.includes(end.label);
    });
    await release(bead, holder);
  };
  return {
    kind: "beads",
    program: beads.program,
    askedBy: (other) => openTracker(parts, other),
    ready: (query) => readReady(beads, claims, query),
    get: async (id) => {
      const bead = await showBead(beads, id);
      return bead === null ? null : await readIssue(beads, bead);
    },
    standing: (id) => readStanding(beads, id, takeOver),
    claim: (id, holder, how) => claims.claim(id, holder, { any: how?.any ?? false }),
    pass: async (id, { from, to }) => {
      const bead = await claims.held(id, from, { isTold: (now) => now !== null && isHeld(now, to) });
      if (bead === null) return;
      // Where the program keeps a name of its own, only our note tells whose the claim is.
      const isNamed = isHeld(bead, from);
      await tell(id, from, ["update", `--assignee=${assigneeOf(to)}`], (now) => !isNamed || hasChanged(bead, now));
      await strangers.pass({ id, holder: from }, to);
    },
    complete: async (id, holder, { commit, note }) => {
      const isTold = (now: Bead | null) => now !== null && isClosed(now.status);
      const bead = await claims.held(id, holder, { isTold, orFree: true });
      if (bead === null) return;
      const said = note === "" ? "done" : note;
      const reason = commit === null ? said : `${said} (commit ${commit})`;
      await tell(id, holder, ["close", `--reason=${reason}`], ({ status }) => isClosed(status));
      await strangers.forget({ id, holder });
    },
    fail: (id, holder, reason) => giveUp(id, holder, { label: labels.failed, word: "failed", reason }),
    escalate: (id, holder, reason) => giveUp(id, holder, { label: labels.escalated, word: "needs a person", reason }),
    release: async (id, holder, how) => {
      if (how?.claimed) {
        const unseen = await claims.unseen(id, holder);
        if (unseen !== null) await release(unseen, holder);
        return;
      }
      const bead = await claims.held(id, holder, { isTold: () => true, orNamed: true });
      if (bead === null) return;
      if (bead.status === "in_progress" || bead.status === "open")
        return await release(bead, holder, `--add-label=${labels.stopped}`);
      // What a person has made of it stays: only our name would keep everybody from it once they open it again.
      await tell(id, holder, ["update", "--assignee="], (now) => hasChanged(bead, now));
    },
    epics: openEpics(beads, claims),
    followUp: (source, text) => writeFollowUp(beads, source, text),
  };
}

function withNote({ notes }: Bead, note: string): string {
  if (notes.includes(note)) return notes;
  return notes === "" ? note : `${notes}\n\n${note}`;
}
