import type { Settings } from "../core/settings.js";
import { readRefs } from "../git/mirror-refs.js";
import type { Repository } from "../git/repository.js";
import { UserError } from "../lib/errors.js";
import { shellWord } from "../lib/quoted.js";

/** The branch that a run lands on. Throws UserError where there is none. */
export async function targetOf(repository: Repository, { finalize }: Settings): Promise<string> {
  const target = finalize.into ?? repository.branch;
  if (target === null) {
    throw new UserError("the checkout is detached, so there is no branch to land on", {
      hint: "check out a branch, or set finalize.into in ratchet.yaml",
      code: "detached",
    });
  }
  const ref = `refs/heads/${target}`;
  if (target === repository.branch || (await readRefs(repository.root, [ref])).has(ref)) return target;
  throw new UserError(`finalize.into names ${target}, and there is no such branch`, { hint: hintFor(target) });
}

function hintFor(target: string): string {
  const [, short] = /^refs\/heads\/(.+)$/.exec(target) ?? [];
  if (short !== undefined) return `a branch's name is enough: finalize.into: ${short}`;
  if (target === "HEAD") return "without finalize.into work lands on the branch that is checked out";
  return `git branch ${shellWord(target)}`;
}
