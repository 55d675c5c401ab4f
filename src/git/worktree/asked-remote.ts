import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { GitError, type GitOutput, git } from "../git.js";
import { type Mirror, quietFetch } from "../mirror/mirror-refs.js";
import { type Linked, readLinked } from "../objects/links.js";
import type { InGit } from "../objects/submodules.js";

/**
 * Whether a remote has a commit is asked as `git submodule update` asks: by its id. That happens in an empty repository that
 * lives no longer than the question, so nothing of an agent's settings counts but the url.
 */
export interface AskedCommit {
  readonly url: string;
  readonly id: string;
  /** Commits that it is compared with: what it links is to be read too. null: it is known. */
  readonly olds: readonly string[] | null;
  /** The answer has to be there by then. */
  readonly until: number;
}

/** What a commit links, and what the commits linked that it follows. */
export interface Inside {
  readonly now: Linked;
  readonly before: readonly Linked[];
}

export type RemoteAnswer =
  | { readonly isThere: true; readonly inside: Inside | null }
  | { readonly isThere: false; readonly why: string };

export async function askRemote({ path }: Mirror, asked: AskedCommit): Promise<RemoteAnswer> {
  if (isRefused(asked.url)) return { isThere: false, why: "its url is none that may be asked" };
  // What a crash leaves of it goes when the mirror is opened next.
  const folder = join(path, "checkouts", `.new-${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    const format = `--object-format=${asked.id.length === 64 ? "sha256" : "sha1"}`;
    await git(path, ["init", "--quiet", "--bare", "--template=", format, folder]);
    return await askFrom(folder, asked);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { isThere: false, why: notAsked(error.stderr) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An option, a program to be run, or more than one line. */
function isRefused(url: string): boolean {
  return /^-|^ext::|\p{Cc}/iu.test(url);
}

async function askFrom(folder: string, { url, id, olds, until }: AskedCommit): Promise<RemoteAnswer> {
  const inGit: InGit = (args) => {
    // Without a name of its own a remote that is a path cannot leave anything out.
    return git(folder, ["-c", `remote.asked.url=${url}`, ...args], {
      env: { GIT_DIR: folder, GIT_PROTOCOL_FROM_USER: "0" },
      timeoutMs: Math.max(1, until - Date.now()),
      okCodes: [1, 128, 255],
    });
  };
  // A server that cannot leave anything out sends all of the one commit.
  const filter = `--filter=${olds === null ? "tree:0" : "blob:none"}`;
  const fetch = (commit: string) => inGit(["fetch", ...quietFetch, "--depth=1", filter, "asked", commit]);
  const output = await fetch(id);
  if (output.code !== 0) return { isThere: false, why: whyNot(output) };
  if (olds === null) return { isThere: true, inside: null };
  const now = await readLinked(inGit, id);
  if (now === null) return { isThere: false, why: "what is inside of it could not be read" };
  const before: Linked[] = [];
  for (const old of now.links.length === 0 ? [] : olds) {
    const linked = (await fetch(old)).code === 0 ? await readLinked(inGit, old) : null;
    if (linked !== null) before.push(linked);
  }
  return { isThere: true, inside: { now, before } };
}

function whyNot({ stderr }: GitOutput): string {
  return /\bnot our ref\b/.test(stderr) ? "its remote does not have it" : notAsked(stderr);
}

const general = /^(warning:|fatal: Could not read from remote|Please make sure|and the repository exists|$)/;

/** The last line that says something; whoever asks with what password is nobody's business. */
function notAsked(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => !general.test(line));
  const said = (lines.at(-1) ?? "git said nothing")
    .replace(/(?<=:\/\/)[^\s/@]*@|[^\s/@]+:[^\s/@]+@/g, "")
    .slice(0, 300);
  return `its remote could not be asked: ${said}`;
}
