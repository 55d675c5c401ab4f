import { basename, resolve } from "node:path";
import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isDownload, isKnown, printable, unknown } from "../shell/unknown.js";
import { mustRead, mustWrite, placesOf } from "./access.js";
import { builtins } from "./builtins.js";
import type { Command } from "./command.js";
import { containers } from "./containers.js";
import { editors } from "./editors.js";
import { isSubscript } from "./environment.js";
import { files } from "./files.js";
import { gitCommands } from "./git.js";
import { interpreters } from "./interpreters.js";
import { machine } from "./machine.js";
import { network } from "./network.js";
import { outputs } from "./outputs.js";
import { packages } from "./packages.js";
import { patches } from "./patches.js";
import { processes } from "./processes.js";
import { readers } from "./readers.js";
import { searches } from "./searches.js";
import { wrappers } from "./wrappers.js";

const groups = [builtins, containers, files, gitCommands, interpreters, machine, network, outputs, packages, processes];
const commands = new Map<string, Command>(
  [...groups, editors, patches, readers, searches, wrappers].flatMap((group) => Object.entries(group)),
);

const takesNames = new Set(
  ["let", "test", "[", "read", "unset", "printf", "mapfile", "readarray"].concat([
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "wait",
    "getopts",
  ]),
);

/** Judges one command; what it would print comes back. */
export function dispatch(call: Call): string {
  const { name, args } = call;
  if (name === "") return "";
  if (!isKnown(name)) refuse(`nobody can tell which program ${printable(name)} is; write its name out`);
  const program = programOf(call);
  const command = commands.get(program);
  for (const arg of command?.reads?.(args) ?? args) readArgument(call, arg);
  if (takesNames.has(program) && namesOf(call).some(isSubscript)) refuse(`${name}: a subscript that runs a command`);
  if (!(command?.judged ?? false)) judgeUnknown(call, program);
  const output = command?.run?.(call);
  if (output !== undefined) return output;
  return call.stdin !== null && isDownload(call.stdin) ? unknown.download : unknown.any;
}

/** Of printf, only the variable of `-v` is a name; all else is text. */
function namesOf({ name, args }: Call): readonly string[] {
  if (name !== "printf") return args;
  return args[0] === "-v" ? args.slice(1, 2) : [];
}

/** A program of the worktree is only itself; any other is known by its name. */
function programOf(call: Call): string {
  const { name, shell } = call;
  if (!name.includes("/")) return name;
  const places = placesOf(call, name);
  for (const place of places) {
    if (shell.session.downloaded.has(resolve(place))) refuse(`${name} was just fetched: read it before you run it`);
  }
  return places.every((place) => shell.session.paths.isInWorktree(place)) ? "" : basename(name);
}

/** Paths stand alone, behind `=` or behind `@`. */
function readArgument(call: Call, arg: string): void {
  mustRead(call, arg);
  const at = arg.search(/[=@:]/);
  if (at >= 0) mustRead(call, arg.slice(at + 1));
  if (at >= 0 && arg[at + 1] === "@") mustRead(call, arg.slice(at + 2));
}

const results =
  /^(-o|--(output|out|outfile|out-file|outdir|out-dir|outDir|outFile|output-dir|output-file|target-dir))(?:=(.*))?$/;

/** What a program does by itself nobody sees: it has to run in the worktree, and its results have to stay there. */
function judgeUnknown(call: Call, program: string): void {
  const { guard, paths } = call.shell.session;
  const isVersion = call.args.length === 1 && /^(--version|-V|-v|--help)$/.test(call.args[0] ?? "") && program !== "";
  if (isVersion) return;
  if (guard.readOnly) refuse(`a reviewer runs only commands that read; ${printable(call.name)} is not known as one`);
  for (const cwd of call.state.cwds) {
    if (!paths.isWritableFolder(cwd))
      refuse(`${call.name} would run in ${cwd}, outside the worktree, and may write there`);
  }
  for (const [at, arg] of call.args.entries()) {
    const found = results.exec(arg);
    const attached = /^-o(\/.*|\.\..*)$/.exec(arg)?.[1] ?? "";
    const value = found === null ? attached : (found[3] ?? call.args[at + 1] ?? "");
    if (/^(\/|\.\.)/.test(value)) mustWrite(call, value);
  }
}
