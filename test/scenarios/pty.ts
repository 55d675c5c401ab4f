import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import { program, type Sandbox, until } from "./sandbox.js";

/** Node has no terminal to lend, Python has. */
export const hasPty = spawnSync("python3", ["-c", "import pty"], { stdio: "ignore" }).status === 0;

const bridge = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

export interface Terminal {
  /** Waits until the text is on the screen, below what was waited for before; then types. */
  readonly answer: (text: string, keys: string) => Promise<void>;
  readonly see: (text: string) => Promise<void>;
  readonly screen: () => string;
  /** All that was written to it, with what moves and hides the cursor. */
  readonly raw: () => string;
  readonly ended: Promise<number | null>;
}

/**
 * The program in a terminal of its own, which says that it has 0 columns and 0 rows, with a person at it and nothing on
 * its PATH unless told: every machine asks the same.
 */
export function openTerminal({ dir, env }: Sandbox, args: readonly string[], path = dir): Terminal {
  const child = spawn("python3", ["-c", bridge, "env", `PATH=${path}`, process.execPath, program, ...args], {
    cwd: dir,
    env: { ...env, TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = endOf(child);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let [screen, raw] = ["", ""];
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    raw += chunk;
    screen += stripVTControlCharacters(chunk);
  });
  const see = async (text: string) => {
    await until(`${text} in:\n${screen}`, () => screen.indexOf(text, seen) >= 0);
    seen = screen.indexOf(text, seen) + text.length;
  };
  return {
    see,
    answer: async (text, keys) => {
      await see(text);
      child.stdin.write(keys);
    },
    screen: () => screen,
    raw: () => raw,
    ended,
  };
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
}
