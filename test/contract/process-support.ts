import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach } from "vitest";
import { attemptOf, readPid } from "../../src/lib/process/attempt.js";
import { type ProgramStart, startProgram } from "../../src/lib/process/start.js";
import { stopProgram } from "../../src/lib/process/stop.js";

export const never = new AbortController().signal;
export const agents = resolve("test/agents");

/** Folders for one test; whatever runs in them ends with it. */
export function attempts(): { fresh(): string } {
  const roots: string[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await stopProgram(folder, { first: "SIGTERM", graceMs: 0, why: null });
    for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
  });
  return {
    fresh() {
      const root = mkdtempSync(join(tmpdir(), "ratchet-process-"));
      const folder = join(root, "attempt");
      mkdirSync(folder);
      roots.push(root);
      folders.push(folder);
      return folder;
    },
  };
}

export async function start(
  folder: string,
  argv: readonly [string, ...string[]],
  more: Partial<ProgramStart> = {},
): Promise<boolean> {
  const stdout = { stdinFile: null, stdoutFile: join(folder, "stdout.log"), stderrFile: join(folder, "stderr.log") };
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin" };
  return (await startProgram({ folder, argv, env, cwd: folder, ...stdout, ...more })).attached;
}

/** Programs, how they end, and a word of what they, or the shell for them, say. */
export const endings: readonly [readonly [string, ...string[]], number, string][] = [
  [["sh", "-c", "exit 7"], 7, ""],
  [["sh", "-c", "kill -9 $$"], 137, ""],
  [["no-such-program"], 127, "no-such-program"],
  [["exit"], 127, "exit"],
  [["/"], 126, "/"],
];

export function text(folder: string, name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

/** Bounded, and on a condition: fails naming what it waited for. */
export async function until(what: string, condition: () => boolean, withinMs = 20_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`waited ${withinMs} ms for: ${what}`);
    await delay(10);
  }
}

/**
 * Living processes that belong to the attempt, told independently of the code under test: by cookie in the
 * environment, by the shim's arguments, by its session, or by working in the attempt's folder.
 */
export function belongings(folder: string): string[] {
  const { cookie, folder: path } = attemptOf(folder);
  const session = String(readPid(attemptOf(folder)) || "none");
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const [state, , , itsSession] = readFileSync(`/proc/${pid}/stat`, "latin1")
        .replace(/^.*\) /s, "")
        .split(" ");
      const words = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
      const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
      const mine =
        itsSession === session ||
        environment.includes(cookie) ||
        words.includes(cookie) ||
        readlinkSync(`/proc/${pid}/cwd`) === path;
      return state !== "Z" && mine ? [`${pid} ${words.slice(0, 80)}`] : [];
    } catch {
      // Gone while we looked.
      return [];
    }
  });
}
