import { GitError, git, gitText } from "../git.js";
import { isAncestor, type Mirror, readRefs, updateRefs } from "../mirror/mirror-refs.js";
import { areInEachOthersWay } from "./former-target.js";

const remote = "origin";
const timeoutMs = 300_000;

export type Pushed =
  | { readonly type: "pushed" }
  /** The branch has commits there that ours has not; its tip has been fetched. */
  | { readonly type: "moved"; readonly tip: string }
  /** By protection or a hook, or because no remote has that name. A folder that is gone may come back: it is unreachable. */
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "unreachable"; readonly reason: string };

interface PushOptions {
  readonly branch: string;
  readonly head: string;
  readonly signal?: AbortSignal;
}

/** Puts our commits on top of what the remote has, never in their place. What is there already is fine. */
export async function pushBranch(mirror: Mirror, { branch, head, signal }: PushOptions): Promise<Pushed> {
  const ref = `refs/heads/${branch}`;
  const output = await git(mirror.path, ["push", "--porcelain", "--no-verify", remote, `${head}:${ref}`], {
    timeoutMs,
    okCodes: [1, 128],
    ...(signal ? { signal } : {}),
  });
  if (output.code === 0) {
    await forgetFormer(mirror, branch);
    await updateRefs(mirror.path, [{ ref: knownRef(branch), to: head }]);
    return { type: "pushed" };
  }
  const said = `${output.stdout.toString("utf8")}\n${output.stderr}`;
  if (/\((fetch first|non-fast-forward|stale info)\)/.test(said)) {
    const tip = await fetchBranch(mirror, branch, signal);
    if (tip === null) return { type: "unreachable", reason: `${branch} is gone from ${remote}` };
    return (await isAncestor(mirror.path, tip, head))
      ? { type: "unreachable", reason: firstWords(said) }
      : { type: "moved", tip };
  }
  const refused =
    /\[remote rejected\]|! \[rejected\]|hook declined|protected branch|'origin' does not appear to be a git repository/;
  return { type: refused.test(said) ? "refused" : "unreachable", reason: firstWords(said) };
}

const knownRefs = "refs/ratchet/remote";
function knownRef(branch: string): string {
  return `${knownRefs}/${branch}`;
}

/** A remote that has this branch has none whose name is in its way any more. false: we knew of none. */
async function forgetFormer({ path }: Mirror, branch: string): Promise<boolean> {
  const names = [...(await readRefs(path, [knownRefs])).keys()].map((ref) => ref.slice(knownRefs.length + 1));
  const gone = names.filter((name) => areInEachOthersWay(name, branch));
  await updateRefs(
    path,
    gone.map((name) => ({ ref: knownRef(name), to: null })),
  );
  return gone.length > 0;
}

/** The branch as the remote had it when we last pushed to it or fetched it; null: neither was. */
export async function knownRemote(mirror: Mirror, branch: string): Promise<string | null> {
  const ref = knownRef(branch);
  return (await readRefs(mirror.path, [ref])).get(ref) ?? null;
}

/** The branch as the remote has it now, with its commits; null: it has no such branch. */
export async function fetchBranch(mirror: Mirror, branch: string, signal?: AbortSignal): Promise<string | null> {
  const kept = knownRef(branch);
  const options = { timeoutMs, ...(signal ? { signal } : {}) };
  try {
    await git(
      mirror.path,
      ["fetch", "--no-tags", "--quiet", "--refmap=", remote, `+refs/heads/${branch}:${kept}`],
      options,
    );
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (/couldn't find remote ref/i.test(error.stderr)) return null;
    if (!/cannot create '/.test(error.stderr) || !(await forgetFormer(mirror, branch))) throw error;
    return await fetchBranch(mirror, branch, signal);
  }
  return await gitText(mirror.path, ["rev-parse", "--verify", `${kept}^{commit}`]);
}

function firstWords(said: string): string {
  const telling = said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^(remote:|fatal:|error:|!)/.test(line) && line !== "remote:");
  return (telling.length > 0 ? telling : [said.trim()]).join("; ").slice(0, 500);
}
