import { randomBytes } from "node:crypto";
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { pathHash } from "../../lib/path-hash.js";
import { type GitOptions, type GitOutput, git } from "../git.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import type { CheckoutTemplate } from "./checkout-template.js";

/**
 * A checkout: a folder of files and a git folder of its own. The git folder is a whole small repository that borrows
 * the mirror's objects, so an agent in it can reach no config, ref, stash, hook or garbage collection of anybody else,
 * and making one takes no lock. Ratchet keeps a second index (`ratchet-index`) that agents do not know, so flags such as
 * skip-worktree hide nothing from it. `repairFiles` puts back what is Ratchet's before each look.
 */
export interface Checkout {
  readonly mirror: Mirror;
  readonly path: string;
  readonly gitDir: string;
  /** null: detached, for judging only. */
  readonly branch: string | null;
  readonly baseSha: string;
  /** As it was when the checkout was looked for. */
  readonly template: CheckoutTemplate;
}

export function ownIndex({ gitDir }: Checkout): string {
  return join(gitDir, "ratchet-index");
}

/** An index that is used once, by this process alone; what one that was killed has left of it goes at the next look. */
export function passingIndex({ gitDir }: Pick<Checkout, "gitDir">): string {
  return join(gitDir, `ratchet-index.${process.pid}-${randomBytes(4).toString("hex")}`);
}

/** Whose it is; null: no such index, nor its lock. */
export function ownerOfIndex(name: string): number | null {
  const pid = /^ratchet-index\.(\d+)-[0-9a-f]{8}(?:\.lock)?$/.exec(name)?.[1];
  return pid === undefined ? null : Number(pid);
}

/** The agent's index becomes ours: nothing staged, no flags. */
export async function adoptIndex(checkout: Checkout): Promise<void> {
  const aside = passingIndex(checkout);
  copyFileSync(ownIndex(checkout), aside);
  renameSync(aside, join(checkout.gitDir, "index"));
}

/**
 * In the environment of everything of ours that writes into the checkout. Such a child outlives a Ratchet that is
 * killed; whoever takes the place over ends it first (reapLeftovers), so that two never write there at once.
 */
export function cookieOf(gitDir: string): string {
  return pathHash(gitDir).slice(0, 32);
}

/** The same as a variable. */
export function signOf(gitDir: string): Readonly<Record<string, string>> {
  return { RATCHET_TURN: cookieOf(gitDir) };
}

/** A git command in the checkout, whatever its `.git`, config or environment say. `own`: on Ratchet's index. */
export async function gitIn(
  checkout: Checkout,
  args: readonly string[],
  options: GitOptions & { readonly own?: boolean; readonly index?: string } = {},
): Promise<GitOutput> {
  const env = { ...gitEnvironmentIn(checkout, options), ...options.env };
  return await git(checkout.path, args, { ...options, env });
}

export function gitEnvironmentIn(
  checkout: Checkout,
  { own, index = own ? ownIndex(checkout) : undefined }: { readonly own?: boolean; readonly index?: string },
): Readonly<Record<string, string>> {
  return {
    GIT_DIR: checkout.gitDir,
    GIT_WORK_TREE: checkout.path,
    GIT_NO_REPLACE_OBJECTS: "1",
    ...signOf(checkout.gitDir),
    ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
  };
}
