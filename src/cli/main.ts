import { isatty } from "node:tty";
import { setFlagsFromString } from "node:v8";
import { version } from "../version.js";
import { loadProgram } from "./load.js";
import type * as Program from "./program.js";

/** Starting fast is a feature: what a command needs is loaded when it is known, and for the version that is nothing. */
const args = process.argv.slice(2);
const [command = "", verb = ""] = args;
// What these ask a tracker would go on without them.
if (["explain", "findings", "doctor"].includes(command)) endWhileAlone();
const drives = ["run", "do", "land"].includes(command) || (command === "workflow" && verb === "run");
if (drives) {
  endWhileAlone();
  outliveTerminal();
  compileLess();
}
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // The program knows what to say of it.
  process.stdout.once("error", start).write(`${version}\n`);
} else start();

function start(): void {
  const { runProgram } = loadProgram("program.js", drives ? "driving" : "plain") as typeof Program;
  void runProgram(args, process);
}

/** Until the command itself listens, nothing has begun: there is nothing to wait for, but the word and the exit code. */
function endWhileAlone(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) > 1) return;
      process.stderr.write(`ratchet: interrupted (${signal})\n`);
      process.exit(process.exitCode ?? 130);
    });
  }
}

/** Node forgets that it was started to ignore a closed terminal (nohup). Whoever writes to none was meant to outlive it. */
function outliveTerminal(): void {
  if (!isatty(1) && !isatty(2)) process.on("SIGHUP", () => undefined);
}

/**
 * A run does a little of everything: thousands of functions, each a few times for an issue. V8 compiles what seems busy
 * for speed, in threads of its own, and for a run that takes more than it wins back. So a function must have run six
 * times as long before; one that stays busy still gets there. Until then it is translated plainly, which costs next to
 * nothing. Only where the flags are known to be there, and to help.
 */
function compileLess(): void {
  if (!process.versions.v8.startsWith("11.3.")) return;
  // Node brings its modules along compiled, for its usual flags; under others it compiles them anew. These are used by all.
  const used = ["child_process", "crypto", "fs/promises", "os", "perf_hooks", "timers/promises"];
  for (const name of used) process.getBuiltinModule(name);
  setFlagsFromString("--interrupt-budget=800000");
  setFlagsFromString("--always-sparkplug");
}
