import { rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, readJson, writeDurably } from "../../lib/files.js";
import { pathHash } from "../../lib/path-hash.js";
import type { Bead } from "./read.js";

/**
 * Claims that the program may keep under another name than the run's. One is noted before it is asked for and, where
 * the run's name cannot be given to it, with the name that it has; so whoever goes on with the run after a kill knows
 * it for the run's own. The note goes with the claim.
 */
export interface Strangers {
  /** `holder` is about to ask for it, or has it under the name of `assignee`. */
  note(claim: Claim, assignee?: string | null): Promise<void>;
  isNoted(bead: Bead, holder: string): Promise<boolean>;
  forget(claim: Claim): Promise<void>;
  /** Unless it is known to have another name. */
  forgetUnnamed(claim: Claim): Promise<void>;
  /** The claim goes on to another holder; whoever had it may say so again. */
  pass(claim: Claim, to: string): Promise<void>;
}
interface Claim {
  readonly id: string;
  readonly holder: string;
}

/** What was changed earlier or later than a claim can take was not changed by it: it is a person's. */
const claimingMs = 60_000;
/** Programs may keep times in whole seconds. */
const roundedMs = 1_000;

/** `folder`: where this machine's runs keep their notes; null: nobody comes after this process. */
export function openStrangers(folder: string | null): Strangers {
  const { read, write, forget } = folder === null ? inMemory() : inFolder(folder);
  return {
    forget,
    note: (claim, assignee) => write(claim, { at: Date.now(), ...(assignee === undefined ? {} : { assignee }) }),
    isNoted: async ({ id, assignee, changedAt }, holder) => {
      const note = await read({ id, holder });
      if (note === null) return false;
      if (note.assignee !== undefined) return note.assignee === assignee;
      return changedAt !== null && changedAt >= note.at - roundedMs && changedAt <= note.at + claimingMs;
    },
    forgetUnnamed: async (claim) => {
      if ((await read(claim))?.assignee === undefined) await forget(claim);
    },
    pass: async (claim, to) => {
      const note = await read(claim);
      if (note !== null) await write({ ...claim, holder: to }, note);
    },
  };
}

interface Kept {
  read(claim: Claim): Promise<Note | null>;
  write(claim: Claim, note: Note): Promise<void>;
  forget(claim: Claim): Promise<void>;
}

function inFolder(folder: string): Kept {
  const fileOf = (claim: Claim) => join(folder, `${pathHash(nameOf(claim))}.json`);
  return {
    read: async (claim) => toNote(await readJson(fileOf(claim))),
    write: async (claim, note) => {
      makeFolder(folder);
      await writeDurably(fileOf(claim), JSON.stringify(note));
    },
    forget: (claim) => rm(fileOf(claim), { force: true }),
  };
}

function inMemory(): Kept {
  const notes = new Map<string, Note>();
  return {
    read: async (claim) => notes.get(nameOf(claim)) ?? null,
    write: async (claim, note) => void notes.set(nameOf(claim), note),
    forget: async (claim) => void notes.delete(nameOf(claim)),
  };
}

function nameOf({ id, holder }: Claim): string {
  return JSON.stringify([id, holder]);
}

interface Note {
  readonly at: number;
  /** Absent: it was about to be asked for. */
  readonly assignee?: string | null;
}

function toNote(value: unknown): Note | null {
  if (typeof value !== "object" || value === null || !("at" in value) || typeof value.at !== "number") return null;
  const { at } = value;
  if (!("assignee" in value)) return { at };
  return typeof value.assignee === "string" || value.assignee === null ? { at, assignee: value.assignee } : null;
}
