import { resolve } from "node:path";
import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isDownload, isKnown, isOpaque, unknown } from "../shell/unknown.js";
import { mustWrite, placesOf } from "./access.js";
import { type Commands, each } from "./command.js";
import { all, has, parseOptions } from "./options.js";

/** Programs that run what they are given. Shell text is judged; a script file is the worktree's own program. */
export const interpreters: Commands = {
  ...each(["sh", "bash", "dash", "zsh", "ksh", "ash", "rbash", "fish"], { judged: true, run: shell }),
  ...each(
    [
      "python",
      "python2",
      "python3",
      "node",
      "nodejs",
      "deno",
      "bun",
      "ruby",
      "perl",
      "php",
      "lua",
      "osascript",
      "Rscript",
    ],
    {
      judged: false,
      run: interpreter,
    },
  ),
};

const shellSpec = { short: "oO", long: ["rcfile", "init-file"], leading: true };

function shell(call: Call): string | undefined {
  // `-c` may share its word with flags, `-lc`; the text is the first operand then.
  const words = call.args.map((arg) => (/^\+[A-Za-z]+$/.test(arg) ? "-" : arg)).filter((arg) => arg !== "-");
  const options = parseOptions(words, shellSpec);
  const [first, ...parameters] = options.operands;
  if (has(options, "c")) {
    if (first === undefined) return "";
    if (isOpaque(first)) refuse(`${call.name} -c: nobody can tell what the text will be; write the command out`);
    return call.shell.runChild(first, call, parameters);
  }
  if (has(options, "version", "help")) return undefined;
  if (first !== undefined && !has(options, "s")) return runFile(call, first);
  return runInput(call);
}

function runFile(call: Call, file: string): undefined {
  const { guard, paths } = call.shell.session;
  if (isDownload(file) || wasFetched(call, file)) refuse(`${call.name}: a download must be read before it is run`);
  if (/^\/dev\/(fd\/|stdin)/.test(file)) refuse(`${call.name}: write the commands out`);
  if (guard.readOnly) refuse("a reviewer runs no scripts");
  for (const cwd of call.state.cwds) {
    if (!paths.isWritableFolder(cwd)) refuse(`${call.name} would run a script in ${cwd}, outside the worktree`);
  }
  return undefined;
}

/** A shell that reads its commands from a pipe, a heredoc or a file. */
function runInput(call: Call): string | undefined {
  const { stdin } = call;
  if (stdin === null) return "";
  if (isDownload(stdin)) refuse(`${call.name}: a download must be read before it is run; save it to a file first`);
  if (stdin.trim() === unknown.file) return runFile(call, unknown.file);
  if (!isKnown(stdin)) refuse(`${call.name}: nobody can tell what it would run; write the commands out`);
  return call.shell.runChild(stdin, { ...call, stdin: null }, []);
}

function wasFetched(call: Call, file: string): boolean {
  return placesOf(call, file).some((place) => call.shell.session.downloaded.has(resolve(place)));
}

function interpreter(call: Call): undefined {
  const options = parseOptions(call.args, { short: call.name.startsWith("perl") ? "eEIMm" : "cemprWX", leading: true });
  const [file] = options.operands;
  const hasText = has(options, "c", "e", "m", "p", "E", "eval", "print") || file === "eval";
  if (!hasText && (file === undefined || file === "-") && call.stdin !== null && isDownload(call.stdin)) {
    refuse(`${call.name}: a download must be read before it is run; save it to a file first`);
  }
  if (file !== undefined && !hasText && (isDownload(file) || wasFetched(call, file))) {
    refuse(`${call.name}: a download must be read before it is run`);
  }
  if (call.name === "perl" || call.name === "ruby") editInPlace(call);
  if (call.name.startsWith("python") && all(options, "m")[0] === "twine")
    refuse("packages are published by people, not by a turn");
  return undefined;
}

/** `perl -pi -e '…' files` */
function editInPlace(call: Call): void {
  if (!call.args.some((arg) => /^-[a-zA-Z0]*i/.test(arg) && !arg.startsWith("-e"))) return;
  const options = parseOptions(
    call.args.map((arg) =>
      /^-[pnlwsa0]*i/.test(arg) ? arg.replace(/i(?!e$).*$/, (end) => (end.endsWith("e") ? "ie" : "i")) : arg,
    ),
    {
      short: "eEIMm",
    },
  );
  const files = has(options, "e", "E") ? options.operands : options.operands.slice(1);
  for (const file of files) mustWrite(call, file);
}
