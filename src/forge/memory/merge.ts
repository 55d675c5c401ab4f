import type { MergeMethod, MergeOutcome } from "../../core/ports/forge.js";
import { findPull } from "./people.js";
import { freshen, type MemoryRepository } from "./repository.js";
import type { MemoryPull, MemoryState } from "./state.js";

interface How {
  readonly number: number;
  readonly method: MergeMethod;
  readonly head: string;
  readonly at: string;
}

export async function mergeMemory(
  now: MemoryState,
  repository: MemoryRepository,
  { number, method, head, at }: How,
): Promise<MergeOutcome> {
  const pull = findPull(now, number);
  if (pull.state === "merged") return { type: "already-merged", commit: pull.mergeCommit };
  if (pull.state === "closed") return { type: "refused", reason: "it is closed" };
  const ends = await freshen(pull, repository);
  if (ends.head !== head) return { type: "moved" };
  const reason = blockedBy(now, pull, head);
  if (reason !== null) return { type: "refused", reason };
  const message = method === "squash" ? `${pull.title} (#${number})` : `Merge pull request #${number}\n\n${pull.title}`;
  const commit = await repository.merge({ branch: pull.base, base: ends.baseSha, head, method, message });
  if (commit === null) return { type: "refused", reason: "it conflicts with its base" };
  Object.assign(pull, { state: "merged", mergeCommit: commit, updatedAt: at, ...ends });
  return { type: "merged", commit };
}

function blockedBy(now: MemoryState, { base, number, draft }: MemoryPull, head: string): string | null {
  if (draft) return "it is a draft";
  const rules = now.protection[base];
  if (!rules) return null;
  const isGreen = (name: string): boolean =>
    now.checks.some((check) => check.name === name && check.commit === head && check.status === "success");
  const missing = rules.contexts.find((name) => !isGreen(name));
  if (missing !== undefined) return `required check ${missing} has not passed`;
  const given = now.reviews.filter(({ pull, state }) => pull === number && state === "approved").length;
  return given >= rules.approvals ? null : `${rules.approvals} approving reviews are required`;
}
