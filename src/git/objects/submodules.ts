import type { GitOutput } from "../git.js";

/** Runs a git command in some repository. 1 and 128 are answers. */
export type InGit = (args: readonly string[]) => Promise<GitOutput>;

/** What `.gitmodules` says. */
export interface Submodule {
  readonly name: string;
  /** Bytes, as latin1. */
  readonly path: string;
  /** As it is written there. */
  readonly url: string | null;
}

export async function readSubmodules(inGit: InGit, commit: string): Promise<readonly Submodule[]> {
  const args = ["config", "-z", "--blob", `${commit}:.gitmodules`, "--get-regexp", "^submodule\\..*\\.(path|url)$"];
  const output = await inGit(args);
  // 1: no such entry; 128: no such file, or no configuration.
  if (output.code !== 0) return [];
  const found = new Map<string, { path?: string; url?: string }>();
  for (const [, name = "", key = "", value = ""] of output.stdout.toString("latin1").matchAll(entry))
    found.set(name, { ...found.get(name), [key]: value });
  return [...found].flatMap(([name, { path, url }]) => {
    if (path === undefined) return [];
    return [{ name: asText(name), path: path.replace(/\/+$/, ""), url: url === undefined ? null : asText(url) }];
  });
}

const entry = /submodule\.(.*)\.(path|url)\n([^\0]*)\0/g;

function asText(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}

/** Where a submodule's repository is: a url that begins with dots goes from that of the repository around it, as git has it. */
export function resolveUrl(url: string, around: string): string {
  if (!/^\.\.?\//.test(url)) return url;
  let [place, rest, glue] = [around.replace(/\/$/, ""), url, "/"];
  for (let dots = /^\.\.?\//.exec(rest)?.[0]; dots !== undefined; dots = /^\.\.?\//.exec(rest)?.[0]) {
    rest = rest.slice(dots.length);
    if (dots === "./") continue;
    const cut = place.lastIndexOf("/");
    if (cut < 0) glue = ":";
    place = place.slice(0, cut < 0 ? place.lastIndexOf(":") : cut);
  }
  return `${place}${glue}${rest}`.replace(/\/$/, "");
}
