import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { IssueRecord, RunRecord } from "../../src/core/record.js";
import type { PublicEvent } from "../../src/core/report.js";
import { copyOf } from "../copy-of.js";

/** The built program, as users start it. */
export const program = fileURLToPath(new URL("../../dist/ratchet.js", import.meta.url));

export interface Ended {
  /** null: a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly isEnded: () => boolean;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly onLine: (listen: (line: string) => void) => void;
}

export interface Sandbox {
  /** Holds everything of this test: repository, state home, agents and what they write down. */
  readonly root: string;
  /** The user's repository. */
  readonly dir: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** Writes below root (not below the repository) and returns the path. */
  readonly put: (path: string, text: string) => string;
  /** Writes into the repository. */
  readonly write: (path: string, text: string) => void;
  readonly read: (path: string) => string;
  readonly git: (...args: string[]) => string;
  /** JSON is YAML. Written as ratchet.yaml, which git leaves alone: trees of different sandboxes can be compared. */
  readonly configure: (config: object) => void;
  /** A shell program outside of the repository, as a command line. */
  readonly script: (name: string, text: string) => string[];
  readonly add: (id: string, options?: { body?: string; title?: string; more?: string[] }) => Promise<void>;
  readonly ratchet: (...args: string[]) => Promise<Ended>;
  /** What a command prints, without a process of its own: for what a test does before and after what it is about. */
  readonly quick: (...args: string[]) => Promise<string>;
  readonly start: (args: readonly string[], options?: { env?: NodeJS.ProcessEnv; cwd?: string }) => Running;
  readonly record: (run?: string) => Promise<RunRecord>;
  readonly issue: (id: string, run?: string) => Promise<IssueRecord>;
  readonly status: (id: string) => Promise<string>;
  /** Processes that belong to this sandbox by environment, command line or folder. */
  readonly processes: () => string[];
}

/** A repository with one commit and a state home of its own; gone, with every process of it, when the test has ended. */
export function sandbox(): Sandbox {
  const box = emptySandbox();
  makeShop(box.dir);
  return box;
}

const makeShop = copyOf((dir) => {
  const env = environment(dir, dir);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: dir, env });
  git("init", "--quiet", "--initial-branch=main", "--template=");
  git("config", "user.name", "A Person");
  git("config", "user.email", "person@localhost");
  mkdirSync(join(dir, ".git/info"));
  writeFileSync(join(dir, ".git/info/exclude"), "/ratchet.yaml\n");
  writeFileSync(join(dir, "README.md"), "# A shop\n");
  git("add", "--all");
  git("commit", "--quiet", "--message", "The beginning");
});

/** The same without the repository: somebody else makes it in `<root>/<within>/shop`, with its home beside it. */
export function emptySandbox(within = ""): Sandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-scenario-")));
  const [dir, home] = [join(root, within, "shop"), join(root, within, "home")];
  const env = environment(root, home);
  const put = (path: string, text: string) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: dir, env, encoding: "utf8" }).trimEnd();
  const running = new Set<Running>();
  const start: Sandbox["start"] = (args, options = {}) => {
    const one = launch(args, { cwd: options.cwd ?? dir, env: { ...env, ...options.env } });
    running.add(one);
    void one.ended.then(() => running.delete(one));
    return one;
  };
  const ratchet = (...args: string[]) => start(args).ended;
  const quick = async (...args: string[]) => await (await commandLine()).runInProcess(args, { cwd: dir, env });
  const record = async (run = "last"): Promise<RunRecord> => JSON.parse(await quick("runs", "export", run));
  onTestFinished(async () => {
    for (const one of running) one.kill("SIGKILL");
    await Promise.all([...running].map((one) => one.ended));
    for (const line of processesOf(root)) killQuietly(Number.parseInt(line, 10));
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    root,
    dir,
    home,
    env,
    put,
    write: (path, text) => void put(join(within, "shop", path), text),
    read: (path) => readFileSync(join(dir, path), "utf8"),
    git,
    configure: (config) => void put(join(within, "shop/ratchet.yaml"), `${JSON.stringify(config, null, 2)}\n`),
    script: (name, text) => ["sh", put(join("bin", name), text)],
    add: async (id, { title = `Do ${id}`, body = "", more = [] } = {}) => {
      const file = put(join("bodies", id), body);
      await quick("work", "add", title, "--id", id, "--body-file", file, ...more);
    },
    ratchet,
    quick,
    start,
    record,
    issue: async (id, run) => {
      const found = (await record(run)).issues[id];
      if (!found) throw new Error(`${id} is not in the record`);
      return found;
    },
    status: async (id) => JSON.parse(await quick("work", "show", id, "--json")).status,
    processes: () => processesOf(root),
  };
}

function environment(root: string, home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: root,
    LANG: "C.UTF-8",
    TMPDIR: process.env.TMPDIR,
    GIT_CONFIG_NOSYSTEM: "1",
    RATCHET_HOME: home,
  };
}

function launch(args: readonly string[], { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): Running {
  const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = [collect(child, "stdout"), collect(child, "stderr")];
  let isEnded = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      isEnded = true;
      resolve({ code, stdout: stdout.text(), stderr: stderr.text() });
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    isEnded: () => isEnded,
    stdout: stdout.text,
    stderr: stderr.text,
    kill: (signal) => void child.kill(signal),
    onLine: stdout.onLine,
  };
}

function collect(child: ChildProcess, name: "stdout" | "stderr") {
  let text = "";
  let listen: (line: string) => void = () => undefined;
  child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
    const from = text.lastIndexOf("\n") + 1;
    text += chunk;
    for (const line of text
      .slice(from, text.lastIndexOf("\n") + 1)
      .split("\n")
      .slice(0, -1))
      listen(line);
  });
  return {
    text: () => text,
    onLine: (next: (line: string) => void) => {
      listen = next;
    },
  };
}

async function commandLine(): Promise<typeof import("../children/cli-in-process.js")> {
  return await import("../../dist-test/cli-in-process.mjs" as string);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
    return;
  }
}

function processesOf(root: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    const command = readQuietly(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
    const isOurs = command.includes(root) || readQuietly(`/proc/${pid}/environ`).includes(root);
    return isOurs ? [`${pid} ${command}`] : [];
  });
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process is gone, or not ours to look at.
    return "";
  }
}

/** Waits for a condition, with a bound: what was waited for is in the message. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`waited ${withinMs} ms in vain for: ${what}`);
    await delay(20);
  }
}

/** What `run --json` printed. */
export function eventsOf({ stdout }: Pick<Ended, "stdout">): PublicEvent[] {
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as PublicEvent]));
}

/** The attempt folders of an issue in its latest run, in order. */
export function attemptsOf({ home }: Sandbox, run: string, issue: string): string[] {
  const folder = join(home, "runs", run, issue);
  return readdirSync(folder).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}
