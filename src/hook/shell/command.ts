import { resolve } from "node:path";
import type { Assignment, Command, Redirect, Redirection } from "unbash";
import { mustRead, mustWrite, placesOf } from "../commands/access.js";
import { judgeVariable } from "../commands/environment.js";
import { dispatch } from "../commands/table.js";
import { type Call, copyState, type Frame, joinStates, type State, step, type Walk } from "./session.js";
import { isDownload, unknown } from "./unknown.js";
import { assign, expandQuoted, expandWord, fieldsOf, oneText } from "./words.js";

const mostWays = 32;

/** A command of the text, or one whose words are known already. */
export function runCommand(walk: Walk, command: Command | readonly string[], frame: Frame): string {
  if (!("type" in command)) return runWays(walk, [command], { frame, stdin: frame.stdin });
  const assignments = command.prefix.filter((each) => each.type === "Assignment");
  if (command.name === undefined) {
    for (const each of assignments) assignChecked(walk, each, frame.state);
    runRedirects(walk, command.redirects, frame);
    return "";
  }
  const own = copyState(frame.state);
  for (const each of assignments) assignChecked(walk, each, own);
  const words = [command.name, ...command.args].map((word) =>
    word.type === "Word" ? expandWord(word, frame.state, walk) : argumentOf(walk, word, frame.state),
  );
  const stdin = runRedirects(walk, command.redirects, frame);
  const before = frame.state;
  const output = runWays(walk, waysOf(words), { frame, stdin });
  if (isDownload(output)) noteDownloads(walk, command.redirects, before);
  return output;
}

function assignChecked(walk: Walk, assignment: Assignment, state: State): void {
  assign(assignment, state, walk);
  for (const value of state.vars.get(assignment.name) ?? [])
    judgeVariable(assignment.name, value, callOf(walk, [], { state, stdin: null }));
}

/** `export A=b`, `make A=b`: an argument that looks like an assignment. What it means is the command's business. */
function argumentOf(walk: Walk, assignment: Assignment, state: State): readonly string[] {
  const scratch = copyState(state);
  assign(assignment, scratch, walk);
  return (scratch.vars.get(assignment.name) ?? [""]).map(
    (value) => `${assignment.name}=${value.replaceAll(unknown.split, " ")}`,
  );
}

/** Every way in which the words together may come out. */
function waysOf(words: readonly (readonly string[])[]): readonly (readonly string[])[] {
  let ways: string[][] = [[]];
  for (const word of words) {
    const each = ways.length * word.length > mostWays ? [unknown.any] : word;
    ways = ways.flatMap((before) => each.map((text) => [...before, ...fieldsOf(text)]));
  }
  return ways;
}

/** What was fetched into a file is not run unseen. */
function noteDownloads(walk: Walk, redirects: readonly Redirection[], state: State): void {
  for (const redirect of redirects) {
    if (redirect.type !== "Redirect" || !redirect.operator.includes(">") || redirect.target === undefined) continue;
    const call = callOf(walk, [], { state, stdin: null });
    for (const path of expandWord(redirect.target, state, walk).flatMap(fieldsOf)) {
      for (const place of placesOf(call, path)) walk.session.downloaded.add(resolve(place));
    }
  }
}

interface Running {
  readonly frame: Frame;
  readonly stdin: string | null;
}

function runWays(walk: Walk, ways: readonly (readonly string[])[], { frame, stdin }: Running): string {
  const entry = frame.state;
  const outputs: string[] = [];
  const ends: State[] = [];
  for (const way of ways) {
    const words = way.slice(
      Math.max(
        0,
        way.findIndex((word) => word !== ""),
      ),
    );
    const call = callOf(walk, words, { state: ways.length === 1 ? entry : copyState(entry), stdin });
    const old = call.state;
    step(walk.session, 1 + words.length);
    outputs.push(call.state.functions.has(call.name) ? walk.runFunction(call) : dispatch(call));
    ends.push(call.state);
    frame.failed = failedState(call, old);
  }
  frame.state = ends.reduce(joinStates, ends[0] ?? entry);
  return outputs.join("\n");
}

/** Only a cd changes the folder: it may have failed unless the folder is there. */
function failedState(call: Call, old: State): Frame["failed"] {
  if (call.name !== "cd" && call.name !== "pushd") return null;
  const there = call.state.cwds.every((folder) => call.shell.session.made.has(folder));
  return there ? "cannot" : { ...copyState(old), cwds: old.cwds };
}

function callOf(
  walk: Walk,
  [name = "", ...args]: readonly string[],
  { state, stdin }: { state: State; stdin: string | null },
): Call {
  return { name, args, state, stdin, shell: walk };
}

/** Judges what is written and read, and gives what the command reads from its standard input. */
export function runRedirects(walk: Walk, redirects: readonly Redirection[], frame: Frame): string | null {
  let { stdin } = frame;
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") {
      const { parts, text } = redirect.body;
      stdin = parts === undefined ? text : oneText(expandQuoted(parts, frame.state, walk));
    } else if (redirect.type === "HereString") {
      const ways = redirect.target === undefined ? [""] : expandWord(redirect.target, frame.state, walk);
      stdin = oneText(ways).replaceAll(unknown.split, " ");
    } else stdin = runRedirect(walk, redirect, frame) ?? stdin;
  }
  return stdin;
}

function runRedirect(walk: Walk, { operator, target }: Redirect, frame: Frame): string | null {
  if (target === undefined) return null;
  const [part] = target.parts ?? [];
  if (operator === "<" && part?.type === "ProcessSubstitution" && target.parts?.length === 1) {
    return walk.runScript(part.script, frame.state, null);
  }
  const call = callOf(walk, ["redirection"], frame);
  const paths = expandWord(target, frame.state, walk).flatMap(fieldsOf);
  if (operator === "<&") return null;
  if (operator === "<") {
    for (const path of paths) mustRead(call, path);
    return unknown.file;
  }
  for (const path of paths) if (!(operator === ">&" && /^(\d+-?|-)$/.test(path))) mustWrite(call, path);
  return null;
}
