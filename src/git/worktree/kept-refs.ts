import { join } from "node:path";
import { readJson } from "../../lib/files.js";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { readRefFiles, resolveHead } from "../head.js";
import { putText, readOr, removeIfThere, textOf } from "../small-files.js";

/**
 * What HEAD names, and all refs, as they were before somebody looked at the worktree who may only look: one that is on
 * another branch at the same commit shows in no file, and the agent's next commit goes there. Replaced objects, tags and
 * stashes are refs, too: what is left there would be taken for the agent's own.
 */
interface KeptRefs {
  /** Those of another commit must not be put back beside this one's files. */
  readonly commit: string;
  readonly head: string;
  readonly refs: Readonly<Record<string, string>>;
  /** The log of `refs/stash`: all stashes but the newest are in it alone. */
  readonly stashes: string;
}

const stash = "refs/stash";

export async function keepRefs(gitDir: string, commit: string): Promise<void> {
  const refs = resolveHead(gitDir) === commit ? await readRefFiles(gitDir, ["refs"]) : null;
  if (refs === null) return removeIfThere(keptOf(gitDir));
  const kept: KeptRefs = { commit, head: headOf(gitDir), refs: Object.fromEntries(refs), stashes: stashesOf(gitDir) };
  putText(keptOf(gitDir), JSON.stringify(kept));
}

export function hasKeptRefs(gitDir: string): boolean {
  return textOf(keptOf(gitDir)) !== null;
}

interface RefChange {
  readonly name: string;
  readonly isNew: boolean;
}

/** What is not as it was, `HEAD` included; none where nothing was kept for this commit. */
export async function findRefChanges(gitDir: string, commit: string): Promise<readonly RefChange[]> {
  const kept = await readKept(gitDir, commit);
  const now = kept && (await readRefFiles(gitDir, ["refs"]));
  if (!kept || !now) return [];
  const names = [...new Set([...Object.keys(kept.refs), ...now.keys()])];
  const changed = names.filter((name) => kept.refs[name] !== now.get(name));
  if (stashesOf(gitDir) !== kept.stashes && !changed.includes(stash)) changed.push(stash);
  if (headOf(gitDir) !== kept.head) changed.unshift("HEAD");
  return changed.map((name) => ({ name, isNew: name !== "HEAD" && !(name in kept.refs) }));
}

/**
 * What is put back like the rest though whoever made it may only have read: `git fetch` notes where other repositories are,
 * and makes tags and whatever else the remote's refspecs name.
 */
export function mayBeFetched({ name, isNew }: RefChange): boolean {
  return isOfAnother.test(name) || (isNew && !isOnesOwn.test(name));
}

const isOfAnother = /^refs\/(?:remotes|prefetch)\//;
const isOnesOwn = /^refs\/(?:heads\/|replace\/|stash$)/;

export async function putRefsBack(checkout: Checkout, commit: string): Promise<void> {
  const { gitDir } = checkout;
  const kept = await readKept(gitDir, commit);
  if (kept === null) return;
  const names = (await findRefChanges(gitDir, commit)).map(({ name }) => name).filter((name) => name !== "HEAD");
  putText(join(gitDir, "HEAD"), `${kept.head}\n`);
  // Never through one that was made to name another. A new one may have taken the place of the folder that another is in.
  const update = ["update-ref", "--no-deref"];
  for (const name of names) if (!(name in kept.refs)) await gitIn(checkout, [...update, "-d", name]);
  for (const name of names) {
    const id = kept.refs[name];
    if (id !== undefined) await gitIn(checkout, [...update, name, id]);
  }
  // Last: it has an entry more for each time that its ref is moved.
  if (kept.stashes === "") removeIfThere(stashLog(gitDir));
  else putText(stashLog(gitDir), kept.stashes);
}

async function readKept(gitDir: string, commit: string): Promise<KeptRefs | null> {
  const kept = (await readJson(keptOf(gitDir))) as KeptRefs | null;
  // An older version kept branches alone: all others would seem to be new.
  return kept?.commit === commit && typeof kept.stashes === "string" ? kept : null;
}

function headOf(gitDir: string): string {
  return (textOf(join(gitDir, "HEAD")) ?? "").trim();
}

function stashesOf(gitDir: string): string {
  return readOr(stashLog(gitDir));
}

function stashLog(gitDir: string): string {
  return join(gitDir, "logs", stash);
}

function keptOf(gitDir: string): string {
  return join(gitDir, "ratchet", "kept-refs");
}
