import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../lib/errors.js";
import { holdsSecrets, isEnvFile, isSecretPath, listSecrets, matchesPattern, segmentsOf } from "./secrets.js";
import { isOpaque, unknown } from "./shell/unknown.js";
import type { GuardPolicy, Place } from "./types.js";

/**
 * Where a path leads and what may be done there. A path is followed the way the kernel does it: link by link, so that
 * neither a link out of the worktree nor `..` behind one leads anywhere unseen.
 */
export interface Paths {
  /** Why it may not be written, or null. */
  refusesWrite(path: string, how: Writing): string | null;
  refusesRead(path: string): string | null;
  /** The same, for a program that reads everything below. */
  refusesReadBelow(path: string): string | null;
  /** In the worktree, links followed. */
  isInWorktree(path: string): boolean;
  /** A program that runs there may write there. */
  isWritableFolder(path: string): boolean;
}

/** destroys: what was there is gone afterwards; removes: the same, and a link is removed itself, not what it leads to. */
export type Writing = "writes" | "destroys" | "removes";

const devices = /^\/dev\/(null|zero|full|tty|stdin|stdout|stderr|fd\/\d+|random|urandom)$/;
/** What the agents themselves obey: a turn must not loosen the next one. */
const controls = /^(\.claude\/settings[^/]*\.json|\.codex(\/.*)?|\.pi\/(extensions|settings)[^/]*(\/.*)?)$/;
/** In a repository's folder: what git starts by itself, later and unseen. */
const gitOwn = /^(config(\.worktree)?|hooks(\/.*)?)$/;
const gitAdvice = "git starts what is written there; change settings with git config NAME VALUE";
const mostLinks = 40;
const mostEntries = 1000;

export function openPaths(guard: GuardPolicy, place: Place): Paths {
  const worktree = realPlace(guard.worktree);
  // A reviewer has no use for a repository's own folder.
  const given = guard.readOnly ? guard.writable.filter((folder) => !existsSync(join(folder, "HEAD"))) : guard.writable;
  const writable = given.map((folder) => realPlace(folder));
  const repositories = writable.filter((folder) => existsSync(join(folder, "HEAD")));
  const kept = (place.kept ?? []).map((folder) => realPlace(folder));
  const secrets = listSecrets(place.home);
  const roots = guard.readOnly ? writable : [worktree, ...writable];
  const within = (path: string, folders: readonly string[]) => folders.some((folder) => isIn(path, folder));
  const isOurs = (path: string) => within(path, roots) && !(guard.readOnly && isIn(path, worktree));

  const refusesWrite = (path: string, how: Writing): string | null => {
    const destroys = how !== "writes";
    if (devices.test(path)) return null;
    // Its links lead elsewhere for every process that asks.
    if (isIn(path, "/proc")) return outside(guard, place);
    const real = how === "removes" ? realEntry(path) : realPlace(path);
    const unclear = whyUnclear(path, destroys, isOurs);
    if (unclear !== null) return unclear;
    if (guard.readOnly && isIn(real, worktree)) return "a reviewer changes nothing in the worktree";
    if (!isOurs(real)) return outside(guard, place);
    if ((within(real, kept) && !isIn(real, worktree)) || (destroys && kept.some((folder) => isIn(folder, real))))
      return "the guard needs it";
    if (destroys && roots.includes(real)) return "the folder itself must stay";
    if (destroys && writable.includes(dirname(real)) && real.endsWith(`/${unknown.glob}`)) {
      return "others use that folder too: name the files";
    }
    if (isIn(real, worktree)) return whyKept(real.slice(worktree.length + 1));
    return repositories.some((folder) => isIn(real, folder) && gitOwn.test(real.slice(folder.length + 1)))
      ? gitAdvice
      : null;
  };
  const refusesRead = (path: string): string | null => {
    if (devices.test(path)) return null;
    const real = realPlace(path);
    if (isSecretPath(path, secrets) || isSecretPath(real, secrets)) return "it may hold secrets";
    if (isEnvFile(real) && !within(real, [worktree, ...writable])) return "it may hold secrets";
    return null;
  };
  return {
    refusesWrite: (path, how) =>
      refusesWrite(path, how) ?? throughGlob(path, (each) => refusesWrite(each, how === "removes" ? how : "writes")),
    refusesRead: (path) => refusesRead(path) ?? throughGlob(path, refusesRead),
    refusesReadBelow: (path) =>
      refusesRead(path) ?? (holdsSecrets(realPlace(path), secrets) ? "secrets lie below it" : null),
    isInWorktree: (path) => isIn(realPlace(path), worktree),
    isWritableFolder: (path) => within(realPlace(path), [worktree, ...writable]),
  };
}

function outside(guard: GuardPolicy, { tmp }: Place): string {
  const where = guard.readOnly ? "a reviewer writes only into" : "it is outside the worktree; write only into";
  const folders = guard.readOnly ? guard.writable : [guard.worktree, ...guard.writable];
  const shown = folders.map((folder) => (folder === tmp ? `${folder} ($TMPDIR, for temporary files)` : folder));
  return `${where} ${shown.join(", ") || "no folder"}`;
}

/** What is not known may be anywhere, unless the folder before it is ours and nothing climbs out again. */
function whyUnclear(path: string, destroys: boolean, isOurs: (path: string) => boolean): string | null {
  const segments = segmentsOf(path);
  const first = segments.findIndex((segment) => /[\uE000-\uE007]/.test(segment));
  if (first < 0) return null;
  const advice = "nobody can tell where that is; write the path out";
  if (segments.slice(first).includes("..")) return advice;
  if (!isOpaque(path)) return null;
  const before = `/${segments.slice(0, first).join("/")}`;
  return destroys || !isOurs(realPlace(before)) ? advice : null;
}

function whyKept(inside: string): string | null {
  if (inside === ".git") return "the worktree needs its .git";
  if (inside.startsWith(".git/") && gitOwn.test(inside.slice(".git/".length))) return gitAdvice;
  return controls.test(inside) ? "it steers the agents themselves; a person has to change it" : null;
}

/** A wildcard may match a link: each one that is there is followed. */
function throughGlob(path: string, refuses: (path: string) => string | null): string | null {
  const segments = segmentsOf(path);
  const first = segments.findIndex((segment) => segment.includes(unknown.glob));
  if (first < 0) return null;
  const folder = `/${segments.slice(0, first).join("/")}`;
  if (/[\uE000-\uE007]/.test(folder)) return null;
  for (const name of linksIn(folder)) {
    if (!matchesPattern(segments[first] ?? "", name)) continue;
    const reason = refuses(join(folder, name, ...segments.slice(first + 1)));
    if (reason !== null) return reason;
  }
  return null;
}

function linksIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).slice(0, mostEntries);
    return entries.filter((entry) => entry.isSymbolicLink()).map((entry) => entry.name);
  } catch {
    // What cannot be listed cannot be matched either.
    return [];
  }
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** The path with its links followed as far as it exists; what does not exist yet is taken as written. */
function realPlace(path: string): string {
  const rest = segmentsOf(path).reverse();
  let real = "/";
  let links = 0;
  for (let segment = rest.pop(); segment !== undefined; segment = rest.pop()) {
    if (segment === "..") {
      real = dirname(real);
      continue;
    }
    const next = join(real, segment);
    const target = linkTarget(next);
    if (target === null || ++links > mostLinks) {
      real = next;
      continue;
    }
    if (target.startsWith("/")) real = "/";
    rest.push(...segmentsOf(target).reverse());
  }
  return real;
}

/** The same for the entry itself: a link at the end is not followed. */
function realEntry(path: string): string {
  const name = basename(path);
  if (path.endsWith("/") || name === ".." || name === "." || name === "") return realPlace(path);
  return join(realPlace(dirname(path)), name);
}

function linkTarget(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
  } catch (error) {
    const code = codeOf(error);
    if (
      code !== null &&
      ["ENOENT", "ENOTDIR", "EACCES", "ENAMETOOLONG", "ELOOP", "EPERM", "ERR_INVALID_ARG_VALUE"].includes(code)
    ) {
      return null;
    }
    throw error;
  }
}
