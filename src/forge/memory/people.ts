import type { Author, Check, InlineComment, Review } from "../../core/ports/forge.js";
import { ExternalError } from "../../lib/errors.js";
import { type MemoryFile, type MemoryPull, type MemoryState, nextId } from "./state.js";

/** What others do on the forge: people, bots and CI. */
export interface People {
  review(number: number, said: Said & { readonly state: Review["state"] }): Promise<string>;
  inline(number: number, said: Said & Place): Promise<string>;
  comment(number: number, said: Said): Promise<string>;
  check(check: Pick<Check, "name" | "commit" | "status" | "summary"> & { readonly log?: string }): Promise<string>;
  protect(branch: string, rules: { readonly contexts: readonly string[]; readonly approvals: number }): Promise<void>;
  close(number: number): Promise<void>;
}
interface Said {
  readonly author: Author;
  readonly body: string;
}
type Place = Pick<InlineComment, "path" | "line"> & { readonly thread?: string };

export function findPull(now: MemoryState, number: number): MemoryPull {
  const pull = now.pulls.find((each) => each.number === number);
  if (!pull) throw new ExternalError("forge", `there is no pull request #${number}`);
  return pull;
}

export function openPeople(file: MemoryFile, clock: () => string): People {
  const say = <T>(number: number, add: (now: MemoryState, pull: MemoryPull) => T): Promise<T> =>
    file.change((now) => {
      const pull = findPull(now, number);
      pull.updatedAt = clock();
      return add(now, pull);
    });
  return {
    review: (number, { author, body, state }) =>
      say(number, (now, { head: commit }) => {
        const id = nextId(now);
        now.reviews.push({ pull: number, id, author, body, state, commit, submittedAt: clock() });
        return id;
      }),
    inline: (number, { author, body, path, line, thread }) =>
      say(number, (now, { head: commit }) => {
        const id = nextId(now);
        const place = {
          path,
          line,
          originalLine: line,
          startLine: null,
          about: line === null ? "file" : "line",
        } as const;
        const written = { author, body, createdAt: clock(), commit };
        now.inline.push({ pull: number, id, thread: thread ?? id, review: null, ...place, ...written });
        return id;
      }),
    comment: (number, { author, body }) =>
      say(number, (now) => {
        const id = nextId(now);
        now.comments.push({ pull: number, id, author, body, createdAt: clock() });
        return id;
      }),
    check: (check) =>
      file.change((now) => {
        const id = nextId(now);
        now.checks = now.checks.filter(({ name, commit }) => name !== check.name || commit !== check.commit);
        now.checks.push({ ...check, id, log: check.log ?? null });
        return id;
      }),
    protect: (branch, { contexts, approvals }) =>
      file.change((now) => {
        now.protection[branch] = { contexts: [...contexts], approvals };
      }),
    close: (number) =>
      say(number, (_now, pull) => {
        pull.state = "closed";
      }),
  };
}
