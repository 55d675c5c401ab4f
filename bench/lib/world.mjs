import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runProgram } from "../measure.mjs";

/** The built program, as users start it. */
const program = new URL("../../dist/ratchet.js", import.meta.url).pathname;

/** Certificates that a machine adds are read at every start of node: its own affair, and three times the start itself. */
export const { NODE_EXTRA_CA_CERTS: _, ...plainEnvironment } = process.env;

/** Where worlds can be: on the disk, and where a disk's own time is not in the figure. */
export const places = [
  { name: "on this disk", folder: tmpdir() },
  ...(existsSync("/dev/shm") ? [{ name: "in memory", folder: "/dev/shm" }] : []),
];

/** A repository with one commit and a state home of its own; `close` removes both. */
export function openWorld(folder = tmpdir()) {
  const root = realpathSync(mkdtempSync(join(folder, "ratchet-bench-")));
  const [repository, home] = [join(root, "repository"), join(root, "home")];
  const env = { ...plainEnvironment, HOME: root, GIT_CONFIG_NOSYSTEM: "1", RATCHET_HOME: home };
  const running = [];
  const git = (...args) => runProgram("git", ["-C", repository, ...args], { env });
  mkdirSync(repository);
  git("init", "-qb", "main");
  git("config", "user.name", "a");
  git("config", "user.email", "a@b");
  writeFileSync(join(repository, "README.md"), "# A shop\n");
  git("add", "-A");
  git("commit", "-qm", "start");
  return {
    root,
    home,
    repository,
    /** Of everything it starts from now on. */
    env,
    git,
    /** JSON is YAML. */
    configure: (config) => writeFileSync(join(repository, "ratchet.yaml"), JSON.stringify(config)),
    /** A shell program, as a command line. */
    script(name, text) {
      writeFileSync(join(root, name), text);
      return ["sh", join(root, name)];
    },
    ratchet: (...args) => runProgram(process.execPath, [program, ...args], { cwd: repository, env }),
    start(args, nodeArgs = []) {
      const started = startRatchet([...nodeArgs, program, ...args], { cwd: repository, env });
      running.push(started.child);
      return started;
    },
    close() {
      for (const child of running) child.kill("SIGKILL");
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function startRatchet(args, options) {
  const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  const closed = once(child, "close");
  return {
    child,
    output: () => output,
    /** The whole output; any other exit code is an error of the benchmark. */
    async ended(expected = 0) {
      const [code] = await closed;
      if (code !== expected) throw new Error(`ratchet ${args.slice(1).join(" ")}: exit ${code}\n${output}${errors}`);
      return output;
    },
  };
}

/** Public events of `run --json`. */
export function eventsOf(output) {
  return output.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

/**
 * Named pipes between the benchmark and what an agent's shell does, so that no clock has to be started as a program:
 * `tell` is where the agent writes lines, `wait` is where it reads one to go on.
 */
export function openSignals(world) {
  const paths = { tell: join(world.root, "tell"), wait: join(world.root, "wait") };
  for (const path of Object.values(paths)) runProgram("mkfifo", [path]);
  // Open for both directions: neither side ever sees an end or waits for the other to open it.
  const open = (path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd: open(paths.tell), readable: true, writable: false });
  const go = openSync(paths.wait, constants.O_RDWR);
  const heard = [];
  let wake = () => undefined;
  createInterface({ input: socket }).on("line", (line) => {
    heard.push({ line, at: performance.timeOrigin + performance.now() });
    wake();
  });
  return {
    ...paths,
    /** The next line that begins so, and when it came; others before it are dropped. */
    async heard(prefix, withinMs = 30_000) {
      const late = AbortSignal.timeout(withinMs);
      for (;;) {
        const found = heard.findIndex(({ line }) => line.startsWith(prefix));
        if (found >= 0) return heard.splice(0, found + 1)[found];
        if (late.aborted) throw new Error(`waited in vain for: ${prefix}`);
        await new Promise((resolve) => {
          wake = resolve;
          late.addEventListener("abort", resolve, { once: true });
        });
      }
    },
    go: () => writeFileSync(go, "go\n"),
    close() {
      socket.destroy();
      closeSync(go);
    },
  };
}
