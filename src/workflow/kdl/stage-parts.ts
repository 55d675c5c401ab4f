import type { Prompt } from "../graph.js";
import type { Named } from "../position.js";
import type { Problems } from "../problems.js";
import type { KdlNode } from "./node.js";
import { type Located, readProperties, refuseUnknown } from "./properties.js";
import { addWay, need, type Reading, type StageBase, wayProperties } from "./reading.js";

interface Prompts {
  readonly node: KdlNode;
  readonly what: string;
  readonly text: Located<string> | null;
  readonly files: Located<string> | null;
}

export function readPrompt({ node, what, text: written, files }: Prompts, { problems }: Reading): Prompt {
  if (written !== null && files !== null) {
    const message = `${what} has both "prompt" and "prompt_file"`;
    problems.error({ at: files.at, rule: "prompt", message, hint: "keep one of them" });
  }
  if (written !== null) return { type: "text", text: written.value, at: written.at };
  if (files !== null) return { type: "files", files: readFiles(files, what, problems) };
  const isWrong = node.properties.some(({ name: key }) => key === "prompt" || key === "prompt_file");
  if (!isWrong)
    problems.error({
      at: node.at,
      rule: "prompt",
      message: `${what} has no prompt`,
      hint: 'add prompt="…" or prompt_file="…"',
    });
  return { type: "text", text: "", at: node.at };
}

function readFiles(files: Located<string>, what: string, problems: Problems): Named[] {
  const names = splitNames(files);
  if (names.length === 0) {
    const message = `"prompt_file" of ${what} names no file`;
    problems.error({ at: files.at, rule: "wrong-value", message, hint: 'write prompt_file="a.md, b.md"' });
  }
  return names;
}

/** "a.md, b.md", each with its own place. */
function splitNames({ value, source }: Located<string>): Named[] {
  return [...value.matchAll(/[^,]+/g)].flatMap(({ 0: part, index }) => {
    const file = part.trim();
    return file === "" ? [] : [{ name: file, at: source.place(index + part.indexOf(file)) }];
  });
}

export function addRoute(node: KdlNode, { id, at }: StageBase, reading: Reading): void {
  const what = `a route of stage "${id}"`;
  const get = readProperties(node, { what, properties: wayProperties }, reading.problems);
  refuseUnknown(node, { what, properties: Object.keys(wayProperties), children: [] }, reading.problems);
  need(get("when"), { node, key: "when", what }, reading.problems);
  addWay({ node, what, from: { name: id, at }, get }, reading);
}

export function readInput(node: KdlNode, { problems }: Reading): { key: string; value: string }[] {
  const [key, value, extra] = node.args;
  if (typeof key?.value === "string" && value !== undefined && value.value !== null && extra === undefined)
    return [{ key: key.value, value: String(value.value) }];
  problems.error({
    at: node.at,
    rule: "wrong-value",
    message: '"input" needs a name and a value',
    hint: 'input "name" "value"',
  });
  return [];
}
