import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { codeOf } from "../errors.js";
import { identityOf } from "../process-identity.js";
import type { Attempt } from "./attempt.js";
import { type BirthMark, bornSince } from "./births.js";
import { readPlaces } from "./places.js";
import { shimName } from "./shim.js";

/** A living process (zombies are not) as seen from one attempt. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** Its session; where ps cannot tell, its process group. */
  readonly session: number;
  /** With the pid it names a process for good: numbers are given out again. */
  readonly start: string;
  /** The attempt's cookie is in its environment; or no attempt's is, and what it writes goes into the attempt's files. */
  readonly carries: boolean;
  /** It is the attempt's shim, or a fork of it that has not become another program. */
  readonly isShim: boolean;
}

const hasProc = process.platform === "linux";

export function listProcesses(attempt: Attempt): ProcessRow[] {
  return hasProc
    ? pidsFromProc().flatMap((pid) => rowFromProc(pid, attempt) ?? [])
    : rowsFromPs(runPs(), attempt.cookie);
}

export interface Carriers {
  readonly rows: readonly ProcessRow[];
  /** Some are in the moment of becoming another program, in which nothing can be seen of them. */
  readonly isUnsure: boolean;
}

/** Only the carriers: what is looked for after every end, so it reads little of each process born since the mark. */
export function listCarriers(left: Leaving, since: BirthMark | null = null): Carriers {
  const attempt = { folder: "", ...left };
  if (!hasProc) return { rows: rowsFromPs(runPs(), attempt.cookie).filter((row) => row.carries), isUnsure: false };
  const { pids, mostWork } = bornSince(since, pidsFromProc);
  let isUnsure = false;
  const rows = pids.flatMap((pid) => {
    if (!mostWork && !hasProgram(pid)) return [];
    const carries = carriesInProc(pid, attempt);
    isUnsure ||= carries === null;
    return carries ? (rowFromProc(pid, attempt) ?? []) : [];
  });
  return { rows: rows.filter((row) => row.carries), isUnsure };
}

/** Whoever left something behind; without a folder it is known by its cookie alone. */
export type Leaving = Pick<Attempt, "cookie"> & Partial<Attempt>;

/** Nobody there, zombies and the kernel's own have none; asked first where many are such, because an error costs many times the question. */
function hasProgram(pid: number): boolean {
  return existsSync(`/proc/${pid}/exe`);
}

/** Whether this number is the attempt's shim now, and not a later process with its number. */
export function isShimAlive(pid: number, attempt: Attempt): boolean {
  return hasProc ? isShimInProc(pid, attempt) : isShimLine(runPs(["-p", String(pid)]), attempt.cookie);
}

/** One that waited for its program was given its arguments before anybody knew the folder: it stands there. */
function isShimInProc(pid: number, { cookie, folder }: Attempt): boolean {
  const line = readProc(pid, "cmdline")?.toString("latin1") ?? "";
  return isShimLine(line, cookie) || (line.includes(shimName) && placeOf(pid) === folder);
}

function isShimLine(line: string, cookie: string): boolean {
  return line.includes(shimName) && line.includes(cookie);
}

/** Whether a process works in the folder or below it. Where that cannot be told, somebody may. */
export function isAnybodyIn(folder: string): boolean {
  return processesIn(folder)?.length !== 0;
}

/** Those that work in the folder or below it; others' processes cannot be seen. null: nobody's can. */
export function processesIn(folder: string): number[] | null {
  const isIn = (place: string | null) => place === folder || place?.startsWith(`${folder}/`) === true;
  if (hasProc) return pidsFromProc().filter((pid) => isIn(placeOf(pid)));
  const places = readPlaces();
  return places && [...places].flatMap(([pid, place]) => (isIn(place) ? [pid] : []));
}

/** What those are called. null: nobody can tell. */
export function programsIn(folder: string): string[] | null {
  if (!hasProc) return null;
  const pids = processesIn(folder) ?? [];
  return pids.map((pid) => readProc(pid, "comm")?.toString("utf8").trim() ?? "");
}

/** The command lines of those that work in one of these folders, or below, a NUL after each word. null: nobody can tell. */
export function commandLinesIn(folders: readonly string[]): string[] | null {
  if (!hasProc) return null;
  const isIn = (place: string | null) =>
    place !== null && folders.some((folder) => place === folder || place.startsWith(`${folder}/`));
  return pidsFromProc().flatMap((pid) =>
    isIn(placeOf(pid)) ? (readProc(pid, "cmdline")?.toString("utf8") ?? []) : [],
  );
}

/** Whether a program of that name is in the folder, or below it, that was there at that time. Where that cannot be told, one may. */
export function mayHaveWorkedIn(
  folder: string,
  { program, atMs }: { readonly program: string; readonly atMs: number },
): boolean {
  if (!hasProc) return isAnybodyIn(folder);
  const isSuch = (pid: number) => readProc(pid, "comm")?.toString("utf8").startsWith(program) ?? true;
  const ageMs = Date.now() - atMs;
  return (processesIn(folder) ?? []).some((pid) => isSuch(pid) && ageOf(pid) > ageMs - clockSlackMs);
}

/** Two clocks are compared. */
const clockSlackMs = 2000;

/** In milliseconds; 0: it is gone. The kernel tells its start in hundredths of a second since the boot. */
function ageOf(pid: number): number {
  const start = identityOf(pid)?.start;
  const upSeconds = Number.parseFloat(readFileSync("/proc/uptime", "utf8"));
  return start === undefined ? 0 : upSeconds * 1000 - Number(start) * 10;
}

function placeOf(pid: number): string | null {
  return linkOf(pid, "cwd");
}

/** null: gone meanwhile, or somebody else's. */
function linkOf(pid: number, name: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch (error) {
    if (unseen.includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

const unseen = ["ENOENT", "ESRCH", "EACCES", "EPERM"];

/** What took an environment, a session and a parent of its own is still known by where its output goes. null: nothing can be seen of it. */
function carriesInProc(pid: number, { cookie, folder }: Attempt): boolean | null {
  const environment = readProc(pid, "environ");
  if (environment === null) return false;
  if (environment.length === 0 && isBecoming(pid)) return null;
  const at = environment.indexOf("RATCHET_TURN=");
  if (at !== -1) return environment.includes(`RATCHET_TURN=${cookie}`, at);
  return folder !== "" && hasProgram(pid) && [1, 2].some((fd) => isFileIn(folder, linkOf(pid, `fd/${fd}`)));
}

/** The kernel shows no environment of a process that is about to run a program, nor its command line before the last moment. */
function isBecoming(pid: number): boolean {
  if (!hasProgram(pid)) return false;
  const isRunning = readProc(pid, "cmdline")?.length !== 0;
  return !isRunning || (readProc(pid, "environ")?.length ?? 0) > 0;
}

/** Right in it: what is below may be another attempt's. */
function isFileIn(folder: string, path: string | null): boolean {
  return path?.startsWith(`${folder}/`) === true && path.lastIndexOf("/") === folder.length;
}

function pidsFromProc(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function rowFromProc(pid: number, attempt: Attempt): ProcessRow | null {
  const stat = readProc(pid, "stat")?.toString("latin1");
  if (stat === undefined) return null;
  // The second field is the name in parentheses and may hold anything; fields count from behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return null;
  const isShim = isShimInProc(pid, attempt);
  return {
    pid,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    start: fields[19] ?? "",
    // The program's files are its shim's too.
    carries: !isShim && carriesInProc(pid, attempt) === true,
    isShim,
  };
}

/** Hundreds of files are read in a row: one buffer for all of them, and only what it cannot hold is read the slow way. */
const shared = Buffer.allocUnsafe(64 * 1024);

/** Valid until the next call. null: gone meanwhile, or somebody else's. */
function readProc(pid: number, file: string): Buffer | null {
  const path = `/proc/${pid}/${file}`;
  let fd: number | null = null;
  try {
    fd = openSync(path, "r");
    const length = readSync(fd, shared, 0, shared.length, null);
    // The kernel may hand out less than there is; a page or more may be the beginning of something longer.
    return length < 4096 ? shared.subarray(0, length) : readFileSync(path);
  } catch (error) {
    if (unseen.includes(codeOf(error) ?? "")) return null;
    throw error;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

function runPs(which: readonly string[] = ["-ax"]): string {
  try {
    return execFileSync("ps", [...which, "-Eww", "-o", "pid=,ppid=,pgid=,state=,lstart=,command="], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    // ps answers "no such process" by its exit code.
    if (error instanceof Error && "status" in error && error.status === 1) return "";
    throw error;
  }
}

/** pid, parent, group, state, five words of start time, then command line and environment. */
export function rowsFromPs(text: string, cookie: string): ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+((?:\S+\s+){4}\S+)\s(.*)$/.exec(line);
    if (match === null || match[4]?.startsWith("Z")) return [];
    const command = match[6] ?? "";
    return {
      pid: Number(match[1]),
      parent: Number(match[2]),
      session: Number(match[3]),
      start: match[5] ?? "",
      carries: command.includes(`RATCHET_TURN=${cookie}`),
      isShim: isShimLine(command, cookie),
    };
  });
}
