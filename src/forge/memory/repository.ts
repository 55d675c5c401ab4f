import type { MemoryPull } from "./state.js";

/** Where the branches are; the commits are real, only what is said about them is kept here. */
export interface MemoryRepository {
  head(branch: string): Promise<string | null>;
  /** Whether two commits merge without conflict. */
  canMerge(base: string, head: string): Promise<boolean>;
  /** Merges into the branch and returns what it is then; null: conflict. */
  merge(wanted: MemoryMerge): Promise<string | null>;
}
export interface MemoryMerge {
  readonly branch: string;
  readonly base: string;
  readonly head: string;
  readonly method: "squash" | "merge" | "rebase";
  readonly message: string;
}

/** The branches as they are now; those of one that is over as they were. */
export async function freshen(
  pull: Pick<MemoryPull, "branch" | "base" | "head" | "baseSha" | "state">,
  repository: MemoryRepository,
): Promise<{ readonly head: string; readonly baseSha: string }> {
  const { branch, base, head, baseSha, state } = pull;
  if (state !== "open") return { head, baseSha };
  return { head: (await repository.head(branch)) ?? head, baseSha: (await repository.head(base)) ?? baseSha };
}
