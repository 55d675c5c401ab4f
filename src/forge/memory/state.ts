import { dirname } from "node:path";
import * as z from "zod";
import { ExternalError } from "../../lib/errors.js";
import { makeFolder, readOptional, writeDurably } from "../../lib/files.js";
import { withLock } from "../../lib/lock.js";
import { parseJson } from "../../lib/parse-json.js";

const author = z.object({ login: z.string().nullable(), association: z.string(), bot: z.boolean() });
const pull = z.object({
  number: z.number(),
  title: z.string(),
  body: z.string(),
  author,
  branch: z.string(),
  base: z.string(),
  draft: z.boolean(),
  state: z.enum(["open", "closed", "merged"]),
  /** As last seen: a branch may be deleted. */
  head: z.string(),
  baseSha: z.string(),
  mergeCommit: z.string().nullable(),
  labels: z.array(z.string()),
  updatedAt: z.string(),
});
const review = z.object({
  pull: z.number(),
  id: z.string(),
  author,
  body: z.string(),
  state: z.enum(["approved", "changes_requested", "commented", "dismissed", "pending"]),
  commit: z.string().nullable(),
  submittedAt: z.string(),
});
const inline = z.object({
  pull: z.number(),
  id: z.string(),
  thread: z.string(),
  review: z.string().nullable(),
  author,
  path: z.string(),
  line: z.number().nullable(),
  originalLine: z.number().nullable(),
  startLine: z.number().nullable(),
  about: z.enum(["line", "file"]),
  body: z.string(),
  createdAt: z.string(),
  commit: z.string(),
});
const comment = z.object({ pull: z.number(), id: z.string(), author, body: z.string(), createdAt: z.string() });
const check = z.object({
  id: z.string(),
  name: z.string(),
  commit: z.string(),
  status: z.enum(["pending", "success", "failure", "neutral"]),
  summary: z.string(),
  log: z.string().nullable(),
});
const state = z.object({
  lastId: z.number(),
  pulls: z.array(pull),
  reviews: z.array(review),
  inline: z.array(inline),
  comments: z.array(comment),
  checks: z.array(check),
  protection: z.record(z.string(), z.object({ contexts: z.array(z.string()), approvals: z.number() })),
});
export type MemoryState = z.infer<typeof state>;
export type MemoryPull = z.infer<typeof pull>;

const empty: MemoryState = {
  lastId: 0,
  pulls: [],
  reviews: [],
  inline: [],
  comments: [],
  checks: [],
  protection: {},
};

/** One file: a process that starts later, or beside this one, sees the same. Changes exclude each other. */
export interface MemoryFile {
  read(): Promise<MemoryState>;
  change<T>(change: (state: MemoryState) => T | Promise<T>): Promise<T>;
}

export function openMemoryFile(file: string): MemoryFile {
  makeFolder(dirname(file));
  const read = async (): Promise<MemoryState> => {
    const text = await readOptional(file);
    if (text === null) return structuredClone(empty);
    const result = state.safeParse(parseJson(text));
    if (result.success) return result.data;
    throw new ExternalError("forge", `${file} is not the state of a forge`, { hint: "remove it to begin anew" });
  };
  return {
    read,
    change: (change) =>
      withLock(`${file}.lock`, async () => {
        const now = await read();
        const result = await change(now);
        await writeDurably(file, `${JSON.stringify(now)}\n`);
        return result;
      }),
  };
}

export function nextId(now: MemoryState): string {
  now.lastId += 1;
  return String(now.lastId);
}
