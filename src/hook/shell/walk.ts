import {
  type CommandNode,
  type CompoundList,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Statement,
} from "unbash";
import { refuse } from "../refusal.js";
import { runCommand, runRedirects } from "./command.js";
import { andOr, ofCase, ofFor, ofIf, ofWhile } from "./control-flow.js";
import {
  type Call,
  copyState,
  deeper,
  type Frame,
  joinStates,
  type Session,
  setParameters,
  step,
  type Walk,
} from "./session.js";
import { runNested } from "./words.js";

const longest = 1_000_000;

/**
 * Walks a script the way a shell would run it, without running it: folders and variables are followed, every command
 * that could be reached is judged. Where the way is not known, both ways are walked and what holds is what may hold.
 */
export function openWalk(session: Session): Walk {
  const walk: Walk = {
    session,
    runScript: (script, state, stdin) => runScript(walk, script, { state: copyState(state), stdin, failed: null }),
    runText: (text, call) => {
      const frame: Frame = { state: call.state, stdin: call.stdin, failed: null };
      const output = runScript(walk, parseText(text), frame);
      call.state = frame.state;
      return output;
    },
    runChild: (text, call, parameters) => {
      const state = copyState(call.state);
      setParameters(state, parameters);
      return runScript(walk, parseText(text), { state, stdin: call.stdin, failed: null });
    },
    runArgv: (argv, call) => {
      const frame: Frame = { state: call.state, stdin: call.stdin, failed: null };
      const output = deeper(session, () => runCommand(walk, argv, frame));
      call.state = frame.state;
      return output;
    },
    runFunction: (call) => runFunction(walk, call),
    statements: (list, frame) => list.map((statement) => runStatement(walk, statement, frame)).join("\n"),
    list: (list, frame) => walk.statements(list.commands, frame),
    node: (node, frame) => deeper(session, () => runNode(walk, node, frame)),
  };
  return walk;
}

function parseText(text: string): ParsedScript {
  if (text.length > longest) refuse("the command is too long to be judged; write a script file and run it");
  return parse(text);
}

function runScript(walk: Walk, script: ParsedScript | undefined, frame: Frame): string {
  const error = script?.errors?.[0];
  if (script === undefined || error !== undefined) {
    return refuse(`the command cannot be read as shell (${error?.message ?? "unfinished"}); check its quoting`);
  }
  return deeper(walk.session, () => walk.statements(script.commands, frame));
}

/** What begins in the background changes nothing in the shell that goes on. */
function runStatement(walk: Walk, { command, background }: Statement, frame: Frame): string {
  if (background) return walk.runScript(scriptOf(command), frame.state, frame.stdin);
  const output = command.type === "AndOr" ? andOr(walk, command, frame) : walk.node(command, frame);
  settle(frame);
  return output;
}

function settle(frame: Frame): void {
  const { failed } = frame;
  frame.failed = null;
  if (failed === null || failed === "cannot") return;
  frame.state = { ...frame.state, cwds: [...new Set([...frame.state.cwds, ...failed.cwds])] };
}

function scriptOf(command: Statement["command"]): ParsedScript {
  const { pos, end } = command;
  const statement: Statement = { type: "Statement", pos, end, command, background: undefined };
  return { type: "Script", pos, end, shebang: undefined, commands: [statement] };
}

function runNode(walk: Walk, node: PipelineNode | CompoundList, frame: Frame): string {
  step(walk.session);
  switch (node.type) {
    case "Command":
      return runCommand(walk, node, frame);
    case "Pipeline":
      return runPipeline(walk, node.commands, frame);
    case "CompoundList":
      return walk.list(node, frame);
    case "BraceGroup":
      return walk.list(node.body, frame);
    case "Subshell":
      return walk.list(node.body, { ...frame, state: copyState(frame.state), failed: null });
    case "If":
      return ofIf(walk, node, frame);
    case "For":
    case "Select":
      return ofFor(walk, node, frame);
    case "While":
      return ofWhile(walk, node, frame);
    case "ArithmeticFor":
      for (const each of [node.initialize, node.test, node.update]) if (each) runNested(each, frame.state, walk);
      return ofWhile(walk, { clause: null, body: node.body }, frame);
    case "Case":
      return ofCase(walk, node, frame);
    case "Function":
      frame.state.functions.set(node.name.value, node.body);
      return "";
    case "Coproc":
      return walk.node(node.body, { ...frame, state: copyState(frame.state), failed: null });
    case "Redirected": {
      const stdin = runRedirects(walk, node.redirects, frame);
      return runInside(walk, node.command, frame, stdin);
    }
    case "ArithmeticCommand":
      runNested(node, frame.state, walk);
      return runDoubled(walk, node.body, frame);
    case "TestCommand":
      runNested(node, frame.state, walk);
      return "";
  }
}

/** `((a b))` is arithmetic to bash, and a shell in a shell to a plain sh: what could be a command is judged as one. */
function runDoubled(walk: Walk, body: string, frame: Frame): string {
  const script = parse(body);
  const isCommand = script.errors === undefined || script.errors.length === 0;
  if (isCommand && /^\s*[\w./~-]+\s/.test(body)) walk.runScript(script, frame.state, frame.stdin);
  return "";
}

function runInside(walk: Walk, node: CommandNode, frame: Frame, stdin: string | null): string {
  const inner: Frame = { state: frame.state, stdin, failed: null };
  const output = walk.node(node, inner);
  frame.state = inner.state;
  return output;
}

function runPipeline(walk: Walk, commands: readonly CommandNode[], frame: Frame): string {
  const [only] = commands;
  if (commands.length === 1 && only !== undefined) return walk.node(only, frame);
  let part: Frame = frame;
  let output = frame.stdin;
  for (const command of commands) {
    part = { state: copyState(frame.state), stdin: output, failed: null };
    output = walk.node(command, part);
  }
  // zsh runs the last part in the shell itself, bash does not: either may be.
  frame.state = joinStates(frame.state, part.state);
  return output ?? "";
}

/** A function's body, with the call's parameters. */
function runFunction(walk: Walk, call: Call): string {
  const { session } = walk;
  const body = call.state.functions.get(call.name);
  if (body === undefined) return "";
  if (session.calling.has(body)) return refuse(`the function ${call.name} calls itself; use a loop`);
  session.calling.add(body);
  try {
    const before = call.state.vars;
    const state = copyState(call.state);
    setParameters(state, [call.name, ...call.args]);
    const frame: Frame = { state, stdin: call.stdin, failed: null };
    const output = walk.node(body, frame);
    for (const name of ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"]) {
      const old = before.get(name);
      if (old === undefined) frame.state.vars.delete(name);
      else frame.state.vars.set(name, old);
    }
    call.state = frame.state;
    return output;
  } finally {
    session.calling.delete(body);
  }
}
