import { createHash } from "node:crypto";
import { withMarker } from "../../core/marker.js";
import type { Author, Check, Feedback, Forge, PullRequest } from "../../core/ports/forge.js";
import { ExternalError } from "../../lib/errors.js";
import { tailOf } from "../../lib/github-client/tail.js";
import { mergeMemory } from "./merge.js";
import { findPull, openPeople, type People } from "./people.js";
import { addComment, addReply, addReview, type Pen } from "./posts.js";
import { freshen, type MemoryRepository } from "./repository.js";
import { type MemoryPull, type MemoryState, nextId, openMemoryFile } from "./state.js";

export interface MemoryForgeOptions {
  readonly file: string;
  readonly repo: string;
  /** Who we are there. */
  readonly login: string;
  readonly repository: MemoryRepository;
}

/** A forge without a server, for demonstrations and tests: what was said is in one file. */
export function memoryForge(options: MemoryForgeOptions): Forge & { readonly people: People } {
  const { repo, login, repository } = options;
  const file = openMemoryFile(options.file);
  const time = (): string => new Date().toISOString();
  const me: Author = { login, association: "MEMBER", bot: true };
  const pen = (): Pen => ({ me, at: time() });
  const toPullRequest = async (kept: MemoryPull): Promise<PullRequest> => {
    const { head, baseSha } = await freshen(kept, repository);
    const { number, title, body, state, draft, author, branch, base, mergeCommit, updatedAt } = kept;
    const mergeable = state === "open" ? await repository.canMerge(baseSha, head) : null;
    const ends = { head: { branch, sha: head, repo }, base: { branch: base, sha: baseSha } };
    const texts = { number, title, body, state, draft, author, mergeCommit, updatedAt };
    return { ...texts, ...ends, mergeable, url: `https://forge.invalid/${repo}/pull/${number}` };
  };
  const pullRequest = async (number: number): Promise<PullRequest> =>
    toPullRequest(findPull(await file.read(), number));
  const feedback = async (number: number): Promise<Feedback> => {
    const now = await file.read();
    const pull = findPull(now, number);
    const { head } = await freshen(pull, repository);
    return feedbackOf(now, { number, base: pull.base, head });
  };
  const newest = (now: MemoryState, branch: string, isOpen: boolean): MemoryPull | null =>
    now.pulls.findLast((pull) => pull.branch === branch && (!isOpen || pull.state === "open")) ?? null;
  return {
    kind: "memory",
    repo,
    people: openPeople(file, time),
    whoAmI: async () => login,
    pullRequest,
    pullRequestOf: async (branch) => {
      const found = newest(await file.read(), branch, false);
      return found === null ? null : toPullRequest(found);
    },
    openPullRequest: async ({ key, branch, base, title, body, draft }) => {
      const ends = await freshen({ branch, base, head: "", baseSha: "", state: "open" }, repository);
      if (ends.head === "") throw new ExternalError("forge", `there is no branch ${branch}`);
      const kept = await file.change((now) => {
        const there = newest(now, branch, true);
        if (there) return there;
        const number = Number(nextId(now));
        const texts = { title, body: withMarker(body, key), author: me, updatedAt: time() };
        const state = { draft, state: "open", mergeCommit: null, labels: [] } as const;
        const made: MemoryPull = { number, branch, base, ...ends, ...texts, ...state, labels: [] };
        now.pulls.push(made);
        return made;
      });
      return toPullRequest(kept);
    },
    feedback: (number) => feedback(number),
    poll: async (number, since) => {
      const found = await pullRequest(number);
      const cursor = createHash("sha256")
        .update(JSON.stringify([found, await feedback(number)]))
        .digest("hex");
      return cursor === since ? { type: "unchanged" } : { type: "changed", pullRequest: found, cursor };
    },
    checkLog: async ({ id, summary }, maxBytes) => {
      const log = (await file.read()).checks.find((check) => check.id === id)?.log ?? summary;
      return tailOf(log, maxBytes);
    },
    comment: (number, comment) => file.change((now) => addComment(now, number, { ...comment, ...pen() })),
    reply: (number, reply) => file.change((now) => addReply(now, number, { ...reply, ...pen() })),
    review: (number, review) => file.change((now) => addReview(now, number, { review, ...pen() })),
    merge: (number, how) => file.change((now) => mergeMemory(now, repository, { number, ...how, at: time() })),
    label: (number, label) =>
      file.change((now) => {
        const pull = findPull(now, number);
        if (!pull.labels.includes(label)) pull.labels.push(label);
      }),
  };
}

function feedbackOf(now: MemoryState, at: { number: number; base: string; head: string }): Feedback {
  const required = now.protection[at.base]?.contexts ?? [];
  const isOf = ({ pull }: { readonly pull: number }): boolean => pull === at.number;
  const checks: Check[] = now.checks
    .filter(({ commit }) => commit === at.head)
    .map(({ log: _log, ...check }) => ({
      ...check,
      required: required.length === 0 || required.includes(check.name),
      url: null,
      job: null,
    }));
  return {
    reviews: now.reviews.filter(isOf).map(({ pull: _pull, ...review }) => review),
    inline: now.inline.filter(isOf).map(({ pull: _pull, ...inline }) => inline),
    comments: now.comments.filter(isOf).map(({ pull: _pull, ...comment }) => comment),
    checks,
    failed: [],
  };
}
