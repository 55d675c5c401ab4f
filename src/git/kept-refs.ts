import { join } from "node:path";
import { readJson } from "../lib/files.js";
import { type Checkout, gitIn } from "./checkout-git.js";
import { readRefFiles, resolveHead } from "./head.js";
import { putText, removeIfThere, textOf } from "./small-files.js";

/**
 * What HEAD names, and the branches, as they were before somebody looked at the worktree who may only look: one that is on
 * another branch at the same commit shows in no file, and the agent's next commit goes there. Replaced objects are refs, too.
 */
interface KeptRefs {
  /** Those of another commit must not be put back beside this one's files. */
  readonly commit: string;
  readonly head: string;
  readonly refs: Readonly<Record<string, string>>;
}

const looked = ["refs/heads", "refs/replace"];

export async function keepRefs(gitDir: string, commit: string): Promise<void> {
  const refs = resolveHead(gitDir) === commit ? await readRefFiles(gitDir, looked) : null;
  if (refs === null) return removeIfThere(keptOf(gitDir));
  const kept: KeptRefs = { commit, head: headOf(gitDir), refs: Object.fromEntries(refs) };
  putText(keptOf(gitDir), JSON.stringify(kept));
}

export function hasKeptRefs(gitDir: string): boolean {
  return textOf(keptOf(gitDir)) !== null;
}

/** What is not as it was, `HEAD` included; none where nothing was kept for this commit. */
export async function findRefChanges(gitDir: string, commit: string): Promise<readonly string[]> {
  const kept = await readKept(gitDir, commit);
  const now = kept && (await readRefFiles(gitDir, looked));
  if (!kept || !now) return [];
  const names = [...new Set([...Object.keys(kept.refs), ...now.keys()])];
  const changed = names.filter((name) => kept.refs[name] !== now.get(name));
  return headOf(gitDir) === kept.head ? changed : ["HEAD", ...changed];
}

export async function putRefsBack(checkout: Checkout, commit: string): Promise<void> {
  const { gitDir } = checkout;
  const kept = await readKept(gitDir, commit);
  if (kept === null) return;
  const names = (await findRefChanges(gitDir, commit)).filter((name) => name !== "HEAD");
  putText(join(gitDir, "HEAD"), `${kept.head}\n`);
  // Never through one that was made to name another. A new one may have taken the place of the folder that another is in.
  const update = ["update-ref", "--no-deref"];
  for (const name of names) if (!(name in kept.refs)) await gitIn(checkout, [...update, "-d", name]);
  for (const name of names) {
    const id = kept.refs[name];
    if (id !== undefined) await gitIn(checkout, [...update, name, id]);
  }
}

async function readKept(gitDir: string, commit: string): Promise<KeptRefs | null> {
  const kept = (await readJson(keptOf(gitDir))) as KeptRefs | null;
  return kept?.commit === commit ? kept : null;
}

function headOf(gitDir: string): string {
  return (textOf(join(gitDir, "HEAD")) ?? "").trim();
}

function keptOf(gitDir: string): string {
  return join(gitDir, "ratchet", "kept-refs");
}
