import type { Asker, Tracker } from "../core/ports/tracker.js";
import { assigneeOf, isHeld, openClaims, type TakeOver } from "./beads/claims.js";
import { openEpics } from "./beads/epics.js";
import { writeFollowUp } from "./beads/follow-up.js";
import { isClosed, labels, showBead, toIssue } from "./beads/issues.js";
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

interface Parts {
  readonly place: BeadsPlace;
  readonly takeOver: TakeOver | null;
  readonly strangers: Strangers;
}

function openTracker(parts: Parts, asker: Asker | null): Tracker {
  const { place, takeOver, strangers } = parts;
  const beads = openBeads(place, asker);
  const claims = openClaims(beads, takeOver, strangers);
  const release = async (id: string, holder: string, ...more: string[]): Promise<void> => {
    await beads.call(["update", id, "--status=open", "--assignee=", ...more], { actor: assigneeOf(holder) });
    await strangers.forget({ id, holder });
  };
  /** Label and note first: between the two calls the issue is still held, so nobody sees it free and unmarked. */
  const giveUp = async (id: string, holder: string, end: { label: string; word: string; reason: string }) => {
    const bead = await claims.held(id, holder, ({ status, labels: given }) => {
      return status === "open" && given.includes(end.label);
    });
    if (bead === null) return;
    const notes = withNote(bead, `Ratchet run ${holder} ${end.word}: ${end.reason} (ratchet logs show ${holder})`);
    await beads.call(["update", id, `--add-label=${end.label}`, `--notes=${notes}`], { actor: assigneeOf(holder) });
    await release(id, holder);
  };
  return {
    kind: "beads",
    askedBy: (other) => openTracker(parts, other),
    ready: (query) => readReady(beads, claims, query),
    get: async (id) => {
      const bead = await showBead(beads, id);
      return bead === null ? null : toIssue(bead);
    },
    standing: (id) => readStanding(beads, id, takeOver),
    claim: (id, holder, how) => claims.claim(id, holder, { any: how?.any ?? false }),
    pass: async (id, { from, to }) => {
      if ((await claims.held(id, from, (bead) => isHeld(bead, to))) === null) return;
      await beads.call(["update", id, `--assignee=${assigneeOf(to)}`], { actor: assigneeOf(from) });
      await strangers.pass({ id, holder: from }, to);
    },
    complete: async (id, holder, { commit, note }) => {
      const bead = await claims.held(id, holder, ({ status }) => isClosed(status));
      if (bead === null) return;
      const said = note === "" ? "done" : note;
      const reason = commit === null ? said : `${said} (commit ${commit})`;
      await beads.call(["close", id, `--reason=${reason}`], { actor: assigneeOf(holder) });
      await strangers.forget({ id, holder });
    },
    fail: (id, holder, reason) => giveUp(id, holder, { label: labels.failed, word: "failed", reason }),
    escalate: (id, holder, reason) => giveUp(id, holder, { label: labels.escalated, word: "needs a person", reason }),
    release: async (id, holder, how) => {
      if (how?.claimed) {
        if (await claims.isUnseen(id, holder)) await release(id, holder);
        return;
      }
      if ((await claims.held(id, holder, () => true)) === null) return;
      await release(id, holder, `--add-label=${labels.stopped}`);
    },
    epics: openEpics(beads, claims),
    followUp: (source, text) => writeFollowUp(beads, source, text),
  };
}

function withNote({ notes }: Bead, note: string): string {
  if (notes.includes(note)) return notes;
  return notes === "" ? note : `${notes}\n\n${note}`;
}
