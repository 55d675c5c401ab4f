import type { AndOr, Case, CompoundList, For, If, PipelineNode, Select } from "unbash";
import { copyState, type Frame, joinStates, type State, type Walk } from "./session.js";
import { collapse, unknown } from "./unknown.js";
import { expandWord, fieldsOf } from "./words.js";

const mostRounds = 64;

/** `cd a && b || c`: each part is walked in the states in which it can begin. */
export function andOr(walk: Walk, { commands, operators }: AndOr, frame: Frame): string {
  const stops: State[] = [];
  const outputs: string[] = [];
  for (const [at, command] of commands.entries()) {
    const operator = at === 0 ? null : operators[at - 1];
    if (operator === "||") outputs.push(orElse(walk, command, frame));
    else {
      if (operator === "&&" && frame.failed !== "cannot") stops.push(frame.failed ?? copyState(frame.state));
      frame.failed = null;
      outputs.push(walk.node(command, frame));
    }
  }
  for (const stop of stops) frame.state = joinStates(frame.state, stop);
  return outputs.join("\n");
}

function orElse(walk: Walk, command: PipelineNode, frame: Frame): string {
  const succeeded = frame.state;
  const entry = frame.failed === null || frame.failed === "cannot" ? copyState(succeeded) : frame.failed;
  const other: Frame = { state: copyState(entry), stdin: frame.stdin, failed: null };
  const output = walk.node(command, other);
  frame.failed = null;
  frame.state = leaves(command) ? succeeded : joinStates(succeeded, other.state);
  return output;
}

function leaves(command: PipelineNode): boolean {
  if (command.type === "BraceGroup") {
    const last = command.body.commands.at(-1)?.command;
    return last !== undefined && last.type !== "AndOr" && leaves(last);
  }
  return command.type === "Command" && ["exit", "return", "break", "continue"].includes(command.name?.value ?? "");
}

export function ofIf(walk: Walk, node: If, frame: Frame): string {
  let output = walk.list(node.clause, frame);
  const ends: State[] = [];
  const branch = (list: CompoundList) => {
    const inner: Frame = { state: copyState(frame.state), stdin: frame.stdin, failed: null };
    output += `\n${walk.list(list, inner)}`;
    ends.push(inner.state);
  };
  branch(node.then);
  for (const { clause, then } of node.elif) {
    output += `\n${walk.list(clause, frame)}`;
    branch(then);
  }
  if (node.else) branch(node.else);
  else ends.push(frame.state);
  frame.state = ends.reduce(joinStates);
  return output;
}

/** Once for each value, as far as they can be counted. */
export function ofFor(walk: Walk, node: For | Select, frame: Frame): string {
  const words = node.wordlist?.flatMap((word) => expandWord(word, frame.state, walk)) ??
    frame.state.vars.get("@") ?? [unknown.any];
  const values = [...new Set(words.flatMap(fieldsOf))];
  const rounds = values.length <= mostRounds ? values : [collapse(values)];
  const entry = copyState(frame.state);
  let output = "";
  for (const value of rounds) {
    frame.state.vars.set(node.name.value, [value]);
    output += `${walk.list(node.body, frame)}\n`;
  }
  frame.state = joinStates(frame.state, entry);
  return output;
}

/** Twice: what the first round leaves behind is what the second one begins with. */
export function ofWhile(
  walk: Walk,
  node: { readonly clause: CompoundList | null; readonly body: CompoundList },
  frame: Frame,
): string {
  let output = "";
  for (let round = 0; round < 2; round++) {
    if (node.clause) output += `${walk.list(node.clause, frame)}\n`;
    const before = copyState(frame.state);
    output += `${walk.list(node.body, frame)}\n`;
    frame.state = joinStates(frame.state, before);
  }
  return output;
}

export function ofCase(walk: Walk, node: Case, frame: Frame): string {
  expandWord(node.word, frame.state, walk);
  let output = "";
  let end = copyState(frame.state);
  let carried: State | null = null;
  for (const item of node.items) {
    for (const pattern of item.pattern) expandWord(pattern, frame.state, walk);
    const state: State = carried === null ? copyState(frame.state) : joinStates(frame.state, carried);
    const inner: Frame = { state, stdin: frame.stdin, failed: null };
    output += `${walk.list(item.body, inner)}\n`;
    carried = item.terminator === ";&" || item.terminator === ";;&" ? copyState(inner.state) : null;
    end = joinStates(end, inner.state);
  }
  frame.state = end;
  return output;
}
