import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { codeOf } from "./errors.js";

/**
 * Who a process is, beyond its number: pids are given out again, also after a reboot. Alive means that the same
 * process, not another of the same number, is still there; sleeping laptops do not make anyone dead.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
  readonly boot: string;
}

/** No process has this number, whoever had it. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}

let own: ProcessIdentity | null = null;

export function selfIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, start: startOf(process.pid) ?? "", boot: bootId() };
  return own;
}

/** null: there is no such process any more. */
export function identityOf(pid: number): ProcessIdentity | null {
  const start = startOf(pid);
  return start === null ? null : { pid, start, boot: bootId() };
}

export function isSame(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.pid === other.pid && one.start === other.start && one.boot === other.boot;
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identity.boot === bootId() && startOf(identity.pid) === identity.start;
}

/** When the process started, in the system's own spelling; null when there is none, or only a zombie. */
function startOf(pid: number): string | null {
  if (process.platform !== "linux") return startFromPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in parentheses and may hold anything; fields count from behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ESRCH") return null;
    throw error;
  }
}

function startFromPs(pid: number): string | null {
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || null;
  } catch {
    // ps answers a missing process by its exit code.
    return null;
  }
}

let boot: string | null = null;
function bootId(): string {
  boot ??=
    process.platform === "linux"
      ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
      : execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
  return boot;
}
