import type { CommandNode, CompoundList, ParsedScript, PipelineNode, Statement } from "unbash";
import type { Paths } from "../paths.js";
import { refuse } from "../refusal.js";
import type { GuardPolicy, Place } from "../types.js";

/** What one shell knows at one point of the text. Where the text may have gone several ways, there are several values. */
export interface State {
  readonly cwds: readonly string[];
  /** A variable's possible values; the elements of an array are joined by `unknown.split`. */
  readonly vars: Map<string, readonly string[]>;
  readonly functions: Map<string, FunctionBody>;
}

export type FunctionBody = CommandNode | CompoundList;

/** One decision: what it may use up, and what the line has made so far. */
export interface Session {
  readonly guard: GuardPolicy;
  readonly place: Place;
  readonly paths: Paths;
  stepsLeft: number;
  depth: number;
  /** Folders that exist once the line has come so far. */
  readonly made: Set<string>;
  /** Links made by the line itself: nobody can follow them yet. */
  readonly links: Set<string>;
  /** Files that the line has fetched. */
  readonly downloaded: Set<string>;
  /** Functions that are being walked. */
  readonly calling: Set<FunctionBody>;
}

/** A program that is about to run: one way its words may come out. */
export interface Call {
  readonly name: string;
  readonly args: readonly string[];
  /** Not shared: what a builtin changes is read back from here. */
  state: State;
  /** Its standard input; null: nobody pipes anything. */
  readonly stdin: string | null;
  readonly shell: Shell;
}

/** What the rules of single commands need of the walk. Texts come back: what the command would print. */
export interface Shell {
  readonly session: Session;
  /** In the shell that is running: its variables and folder change. */
  runText(text: string, call: Call): string;
  /** In a shell of its own, with its own parameters. */
  runChild(text: string, call: Call, parameters: readonly string[]): string;
  runArgv(argv: readonly string[], call: Call): string;
  runScript(script: ParsedScript | undefined, state: State, stdin: string | null): string;
}

/** One shell on its way through a script. */
export interface Frame {
  state: State;
  readonly stdin: string | null;
  /** After a cd: may it have failed? Then the state in which it did. */
  failed: State | "cannot" | null;
}

/** The whole of it, for the files of the walk. */
export interface Walk extends Shell {
  runFunction(call: Call): string;
  statements(list: readonly Statement[], frame: Frame): string;
  list(list: CompoundList, frame: Frame): string;
  node(node: PipelineNode | CompoundList, frame: Frame): string;
}

const mostSteps = 20_000;
const mostValues = 16;
const deepest = 24;

export function openSession(guard: GuardPolicy, place: Place, paths: Paths): Session {
  const sets = { made: new Set<string>(), links: new Set<string>(), downloaded: new Set<string>() };
  return { guard, place, paths, stepsLeft: mostSteps, depth: 0, calling: new Set(), ...sets };
}

/** Every look costs a step, so that no line takes long to judge. */
export function step(session: Session, cost = 1): void {
  session.stepsLeft -= cost;
  if (session.stepsLeft < 0) refuse("the command is too long to be judged; split it into several");
}

export function deeper<T>(session: Session, work: () => T): T {
  if (session.depth >= deepest) refuse("the command is nested too deeply to be judged; split it into several");
  session.depth++;
  try {
    return work();
  } finally {
    session.depth--;
  }
}

export function copyState(state: State): State {
  return { cwds: state.cwds, vars: new Map(state.vars), functions: new Map(state.functions) };
}

/** Either state may be the one that goes on. A variable that only one of them knows may also be what it was outside. */
export function joinStates(one: State, other: State): State {
  const vars = new Map<string, readonly string[]>();
  for (const name of new Set([...one.vars.keys(), ...other.vars.keys()])) {
    vars.set(name, joinValues(one.vars.get(name) ?? [""], other.vars.get(name) ?? [""]));
  }
  return {
    cwds: joinFolders(one.cwds, other.cwds),
    vars,
    functions: new Map([...one.functions, ...other.functions]),
  };
}

export function joinFolders(one: readonly string[], other: readonly string[]): readonly string[] {
  const cwds = [...new Set([...one, ...other])];
  if (cwds.length > mostValues)
    refuse("the command changes its folder too often to be judged; use paths instead of cd");
  return cwds;
}

function joinValues(one: readonly string[], other: readonly string[]): readonly string[] {
  const values = [...new Set([...one, ...other])];
  return values.length > mostValues ? ["\uE000"] : values;
}

export function setParameters(state: State, [zero, ...rest]: readonly string[]): void {
  for (let at = 0; at < 10; at++) state.vars.set(String(at), [at === 0 ? (zero ?? "") : (rest[at - 1] ?? "")]);
  state.vars.set("@", [rest.join("\uE005")]);
  state.vars.set("*", [rest.join("\uE005")]);
}
