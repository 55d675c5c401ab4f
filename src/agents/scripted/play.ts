import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Step } from "./script.js";

export interface Stage {
  readonly worktree: string;
  readonly resultFile: string | null;
  readonly sessionId: string;
}

/** Plays the steps in order; the exit code. The session id is written first, so that a crash leaves it behind. */
export async function playSteps(steps: readonly Step[], stage: Stage): Promise<number> {
  writeResult(stage, {});
  for (const step of steps) {
    const code = await playStep(step, stage);
    if (code !== null) return code;
  }
  return 0;
}

/** null: go on with the next one. */
async function playStep(step: Step, stage: Stage): Promise<number | null> {
  switch (step.type) {
    case "write":
      return writeText(step, stage.worktree);
    case "run":
      return runShell(step.command, stage.worktree);
    case "commit":
      return commitAll(step.message, stage.worktree);
    case "sleep":
      return delay(step.seconds * 1000, null);
    case "say":
      return say(1, step.text);
    case "verdict":
      return writeResult(stage, { verdict: step.verdict, findings: step.findings });
    case "exit":
      return step.code;
    case "crash":
      process.kill(process.pid, "SIGKILL");
      return delay(60_000, 1);
  }
}

function say(fd: 1 | 2, text: string): null {
  writeSync(fd, `${text}\n`);
  return null;
}

function writeText({ path, text }: { readonly path: string; readonly text: string }, worktree: string): number | null {
  const target = resolve(worktree, path);
  if (!isBelow(target, worktree)) return refuse(path);
  mkdirSync(dirname(target), { recursive: true });
  // A link in the path may lead out of the worktree.
  if (!isBelow(`${realpathSync(dirname(target))}${sep}x`, realpathSync(worktree))) return refuse(path);
  writeFileSync(target, text);
  return null;
}

function refuse(path: string): number {
  say(2, `write refused, outside the worktree: ${path}`);
  return 2;
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep);
}

function runShell(command: string, cwd: string): number | null {
  const { status, signal } = spawnSync("/bin/sh", ["-c", command], { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return null;
  say(2, `run failed (${status ?? signal}): ${command}`);
  return 1;
}

/** Everything in the worktree; no hooks, no editor, no signature; nothing to commit is fine. */
function commitAll(message: string, cwd: string): number | null {
  const add = git(["add", "-A"], cwd);
  if (add.status !== 0) return gitFailed("add", add.stderr);
  if (git(["diff", "--cached", "--quiet"], cwd).status === 0) return null;
  const identity = git(["config", "user.email"], cwd).status === 0 ? [] : fallbackIdentity;
  const commit = git(
    [...identity, "-c", "commit.gpgSign=false", "commit", "--quiet", "--no-verify", "-m", message],
    cwd,
  );
  return commit.status === 0 ? null : gitFailed("commit", commit.stderr);
}
const fallbackIdentity = ["-c", "user.name=Scripted agent", "-c", "user.email=scripted@localhost"];

function git(args: readonly string[], cwd: string) {
  return spawnSync("git", ["-c", "core.hooksPath=/dev/null", ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
}

function gitFailed(what: string, stderr: string): number {
  say(2, `git ${what} failed: ${stderr.trim()}`);
  return 1;
}

/** Whole or not at all: the reader may come while this process is being killed. */
function writeResult({ resultFile, sessionId }: Stage, fields: Readonly<Record<string, unknown>>): null {
  if (resultFile === null) return null;
  writeFileSync(`${resultFile}.new`, JSON.stringify({ session_id: sessionId, ...fields }));
  renameSync(`${resultFile}.new`, resultFile);
  return null;
}
