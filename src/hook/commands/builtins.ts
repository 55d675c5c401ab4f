import { statSync } from "node:fs";
import { resolve } from "node:path";
import { refuse } from "../refusal.js";
import { type Call, joinFolders, setParameters } from "../shell/session.js";
import { isDownload, isKnown, isOpaque, linesOf, unknown } from "../shell/unknown.js";
import { placesOf } from "./access.js";
import { type Commands, each } from "./command.js";
import { judgeVariable } from "./environment.js";
import { parseOptions } from "./options.js";

/** What the shell itself does: variables, folders, other text. */
export const builtins: Commands = {
  ...each(["cd", "pushd"], { judged: true, run: changeFolder }),
  popd: { judged: true, run: popFolder },
  ...each(["export", "declare", "typeset", "local", "readonly"], { judged: true, run: declare, reads: () => [] }),
  unset: { judged: true, run: (call) => forEachName(call, (name) => call.state.vars.delete(name)) },
  read: { judged: true, run: readLine },
  ...each(["mapfile", "readarray"], { judged: true, run: readLines }),
  set: { judged: true, run: setOptions },
  shift: { judged: true, run: (call) => forgetParameters(call) },
  eval: { judged: true, run: (call) => evaluate(call, call.args.join(" ")), reads: () => [] },
  ...each(["source", "."], { judged: false, run: source }),
  trap: { judged: true, run: trap, reads: () => [] },
  alias: { judged: true, run: alias, reads: () => [] },
  exec: { judged: true, run: (call) => runRest(call, parseOptions(call.args, { short: "a", leading: true }).operands) },
  builtin: { judged: true, run: (call) => runRest(call, call.args) },
  command: { judged: true, run: command },
  ...each(
    ["exit", "return", "break", "continue", "true", "false", ":", "test", "[", "let", "wait", "ulimit", "umask"],
    {
      judged: true,
      run: () => "",
    },
  ),
  ...each(["times", "getopts", "shopt", "bg", "fg", "disown", "bind", "complete", "unalias"], {
    judged: true,
    run: () => "",
  }),
  ...each(["hash", "enable"], { judged: true, run: renames }),
  compgen: { judged: true, run: callsBack },
  ...each(["type", "which", "whereis"], { judged: true, run: (call) => programPath(call.args.at(-1)) }),
  jobs: { judged: true, run: () => unknown.ownPid },
};

function runRest(call: Call, argv: readonly string[]): string {
  return argv.length === 0 ? "" : call.shell.runArgv(argv, call);
}

function command(call: Call): string {
  const { values, operands } = parseOptions(call.args, { leading: true });
  return values.has("v") || values.has("V") ? programPath(operands[0]) : runRest(call, operands);
}

/** A program is judged by its name wherever it lies. */
function programPath(name: string | undefined): string {
  return name === undefined ? "" : `/usr/bin/${name}`;
}

function changeFolder(call: Call): string {
  const { session } = call.shell;
  const target = call.args.find((arg) => !/^-[LPe@n]+$/.test(arg) && arg !== "--") ?? session.place.home;
  if (target === "-") {
    const before = call.state.vars.get("OLDPWD") ?? [unknown.any];
    if (!before.every(isKnown)) refuse("cd -: nobody can tell which folder that is; write it out");
    moveTo(call, before);
    return "";
  }
  if (isOpaque(target)) refuse(`${call.name}: nobody can tell which folder that is; write it out`);
  const folders = placesOf(call, target).map((place) => (/[\uE000-\uE007]/.test(place) ? place : resolve(place)));
  if (folders.some((folder) => /[\uE000-\uE007]/.test(folder) && folder.includes("/.."))) {
    refuse(`${call.name}: nobody can tell which folder that is; write it out`);
  }
  for (const folder of folders) if (isFolder(folder)) session.made.add(folder);
  moveTo(call, folders);
  return "";
}

function moveTo(call: Call, folders: readonly string[]): void {
  const { state } = call;
  const vars = new Map(state.vars).set("OLDPWD", state.cwds);
  if (call.name === "pushd") vars.set("\uE005pushed", state.cwds);
  call.state = { ...state, vars, cwds: joinFolders([], folders) };
}

/** Back to where the last pushd came from; another one before it is not remembered, so either may be. */
function popFolder(call: Call): string {
  const back = call.state.vars.get("\uE005pushed");
  if (back === undefined) return "";
  call.state = { ...call.state, cwds: joinFolders([], back) };
  return "";
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Not there yet, or not ours to see: then the cd may fail.
    return false;
  }
}

function declare(call: Call): string {
  for (const arg of call.args) {
    const at = arg.indexOf("=");
    if (arg.startsWith("-") || at <= 0) continue;
    const name = arg.slice(0, at).replace(/\+$/, "");
    const value = arg.slice(at + 1);
    judgeVariable(name, value, call);
    call.state.vars.set(name, [arg[at - 1] === "+" ? unknown.any : value]);
  }
  return "";
}

function forEachName(call: Call, work: (name: string) => void): string {
  for (const arg of call.args) if (!arg.startsWith("-")) work(arg);
  return "";
}

const readOptions = { short: "adinNptu" };

function readLine(call: Call): string {
  const { values, operands } = parseOptions(call.args, readOptions);
  const lines = call.stdin === null ? [unknown.any] : linesOf(call.stdin);
  const names = operands.length === 0 ? ["REPLY"] : operands;
  for (const name of [...names, ...(values.get("a") ?? [])]) {
    call.state.vars.set(name, names.length === 1 ? lines : [unknown.any]);
  }
  return "";
}

function readLines(call: Call): string {
  callsBack(call);
  const { operands } = parseOptions(call.args, { short: "dnOsucC" });
  const text = call.stdin ?? unknown.any;
  call.state.vars.set(operands[0] ?? "MAPFILE", [text.split("\n").filter(Boolean).join(unknown.split)]);
  return "";
}

function setOptions(call: Call): string {
  const at = call.args.indexOf("--");
  const words = at >= 0 ? call.args.slice(at + 1) : call.args.filter((arg) => !/^[-+]/.test(arg));
  if (at >= 0) setParameters(call.state, ["", ...words]);
  return "";
}

function forgetParameters(call: Call): string {
  for (const name of ["1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"]) call.state.vars.set(name, [unknown.any]);
  return "";
}

/** Text that becomes a command has to be readable here and now. */
export function evaluate(call: Call, text: string): string {
  if (isOpaque(text)) refuse(`${call.name}: nobody can tell what the text will be; write the command out`);
  return call.shell.runText(text, call);
}

function source(call: Call): string {
  const [file = ""] = call.args;
  if (isDownload(file) || placesOf(call, file).some((place) => call.shell.session.downloaded.has(resolve(place)))) {
    refuse(`${call.name}: a download must be read before it is run`);
  }
  if (file.startsWith("/dev/fd/") || file === "/dev/stdin") refuse(`${call.name}: write the commands out`);
  return "";
}

function trap(call: Call): string {
  const { operands } = parseOptions(call.args, { leading: true });
  const [text = ""] = operands;
  if (operands.length < 2 || text === "-" || text === "") return "";
  evaluate(call, text);
  return "";
}

/** It is expanded where words are read, before anything that is followed here; sh and zsh do it in scripts too. */
function alias(call: Call): string {
  if (call.args.some((arg) => arg.includes("=") || !isKnown(arg)))
    refuse("alias: it hides what is run; write the command out, or use a function");
  return "";
}

/** `hash -p FILE name`, `enable -f FILE name`: another program under that name. */
function renames(call: Call): string {
  if (call.args.some((arg) => /^-[a-zA-Z]*[pf]/.test(arg))) refuse(`${call.name}: call the program by its own name`);
  return "";
}

/** `compgen -C command`, `mapfile -C command`: text that is run. */
function callsBack(call: Call): string {
  if (call.args.some((arg) => /^-[a-zA-Z]*[CFW]/.test(arg))) refuse(`${call.name}: run the command itself, in a loop`);
  return "";
}
