import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../lib/errors.js";
import { exists } from "../lib/files.js";
import { insideGit } from "../lib/inside-git.js";
import { keepNewest } from "../lib/keep-newest.js";
import { shellWord } from "../lib/quoted.js";
import { asUserSays } from "./environment.js";
import { GitError, git, gitText, isForbidden } from "./git.js";

export interface Repository {
  /** Top of the checkout; of a bare repository its own folder, or the one whose `.git` leads there. */
  readonly root: string;
  readonly gitDir: string;
  /** null: the checkout is detached. */
  readonly branch: string | null;
  /** null: there is no commit yet. */
  readonly head: string | null;
  readonly bare: boolean;
}

export async function inspectRepository(cwd: string): Promise<Repository> {
  try {
    return (await inspectCheckout(cwd)) ?? (await inspectEachPart(cwd));
  } catch (error) {
    throw error instanceof GitError && isForbidden(error.stderr) ? forbidden(cwd, error) : error;
  }
}

function forbidden(cwd: string, cause: GitError): UserError {
  if (/dubious ownership/.test(cause.stderr)) {
    return new UserError(`${cwd} belongs to another user, git refuses to work there`, {
      hint: `git config --global --add safe.directory ${shellWord(cwd)}`,
      cause,
    });
  }
  if (/\/\.git'/.test(cause.stderr)) return insideGit(cwd, cause);
  return new UserError(`${cwd} is in a repository without a checkout, and your git is told to refuse those`, {
    hint: "Change to a checkout, or allow it: git config --global safe.bareRepository all",
    cause,
  });
}

/** The usual case in one question: a checkout with a commit. null: it is something else, or a path in it has a line end. */
async function inspectCheckout(cwd: string): Promise<Repository | null> {
  const asked = ["--absolute-git-dir", "--show-toplevel", "HEAD^{commit}", "--symbolic-full-name", "HEAD"];
  const output = await git(cwd, ["rev-parse", ...asked], { env: asUserSays, okCodes: [128] });
  const lines = output.stdout.toString("utf8").split("\n");
  const [gitDir, root, head, ref, ...rest] = lines;
  if (output.code !== 0 || !gitDir || !root || !head || !ref || rest.length !== 1) return null;
  return { root, gitDir, branch: branchOf(ref), head, bare: false };
}

async function inspectEachPart(cwd: string): Promise<Repository> {
  const { gitDir, bare } = await gitDirOf(cwd);
  const [root, ref, head] = await Promise.all([
    bare ? topOfBare(cwd, gitDir) : topOf(cwd),
    answer(cwd, ["symbolic-ref", "-q", "HEAD"]),
    answer(cwd, ["rev-parse", "-q", "--verify", "HEAD^{commit}"]),
  ]);
  return { root, gitDir, branch: branchOf(ref), head, bare };
}

/** Its whole name, cut here: git's short one is longer where a tag is called the same. */
function branchOf(ref: string | null): string | null {
  return ref?.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
}

async function gitDirOf(cwd: string): Promise<Pick<Repository, "gitDir" | "bare">> {
  try {
    const said = await gitText(cwd, ["rev-parse", "--absolute-git-dir", "--is-bare-repository"], {
      env: asUserSays,
    });
    const end = said.lastIndexOf("\n");
    return { gitDir: said.slice(0, end), bare: said.slice(end + 1) === "true" };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (!/not a git repository/i.test(error.stderr)) throw error;
    throw new UserError(`${cwd} is not in a git repository`, {
      hint: "Change to your repository, or make one: git init && git add -A && git commit",
      code: "no-repository",
      cause: error,
    });
  }
}

/** Worktrees often lie beside it, in a folder whose `.git` is a line that names it. */
async function topOfBare(cwd: string, gitDir: string): Promise<string> {
  for (let folder = await realpath(cwd); folder !== gitDir; folder = dirname(folder)) {
    if (await exists(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return gitDir;
  }
  return gitDir;
}

async function topOf(cwd: string): Promise<string> {
  try {
    return await gitText(cwd, ["rev-parse", "--show-toplevel"]);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw insideGit(cwd, error);
  }
}

async function answer(cwd: string, args: readonly string[]): Promise<string | null> {
  const output = await git(cwd, args, { okCodes: [1] });
  return output.code === 0 ? output.stdout.toString("utf8").trim() : null;
}

const commonDirs = new Map<string, string>();

/** Where the repository keeps what its worktrees share. A repository stays where it is while this process lives. */
export async function commonDirOf(repoPath: string): Promise<string> {
  const known = commonDirs.get(repoPath);
  if (known !== undefined) return known;
  const found = await findCommonDir(repoPath);
  commonDirs.set(repoPath, found);
  keepNewest(commonDirs, 256);
  return found;
}

async function findCommonDir(repoPath: string): Promise<string> {
  if (await isGitDir(join(repoPath, ".git"))) return join(repoPath, ".git");
  if (await isGitDir(repoPath)) return repoPath;
  return resolve(repoPath, await gitText(repoPath, ["rev-parse", "--git-common-dir"]));
}

/** One that stands for itself: a folder with a `commondir` shares another's. */
async function isGitDir(path: string): Promise<boolean> {
  const [head, objects, shared] = await Promise.all(
    ["HEAD", "objects", "commondir"].map((name) => exists(join(path, name))),
  );
  return head === true && objects === true && shared === false;
}

export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** The user's own, else Ratchet's: commits never fail for want of a name. */
export async function readIdentity(repoPath: string): Promise<Identity> {
  return identityFrom(await readConfig(repoPath));
}

export interface ConfigEntry {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

/** Every setting in force in the repository, in order of increasing weight. */
export async function readConfig(repoPath: string): Promise<readonly ConfigEntry[]> {
  const output = await git(repoPath, ["config", "--list", "--includes", "--show-scope", "-z"]);
  const fields = output.stdout.toString("utf8").split("\0");
  const entries: ConfigEntry[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = "", setting = ""] = fields.slice(at, at + 2);
    const cut = setting.indexOf("\n");
    // A key without a value means true.
    entries.push({
      scope,
      key: cut < 0 ? setting : setting.slice(0, cut),
      value: cut < 0 ? "true" : setting.slice(cut + 1),
    });
  }
  return entries;
}

/** A path of a setting: who reads it may have no home, or another one. */
export function fromHome(path: string): string {
  return path.replace(/^~(?=\/)/, homedir());
}

/** Where git looks for a file of the user's own, such as `attributes`, when no setting names one. */
export function usualPlace(name: string): string {
  return join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "git", name);
}

export function identityFrom(entries: readonly ConfigEntry[]): Identity {
  const last = (key: string) => entries.findLast((entry) => entry.key === key && entry.value.trim() !== "")?.value;
  const name = process.env.GIT_AUTHOR_NAME || last("user.name");
  const email = process.env.GIT_AUTHOR_EMAIL || last("user.email");
  return name && email ? { name, email } : { name: "Ratchet", email: "ratchet@localhost" };
}

/** The environment that makes a commit this person's. */
export function asAuthor({ name, email }: Identity): Record<string, string> {
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}
