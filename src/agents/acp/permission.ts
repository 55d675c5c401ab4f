import { isAbsolute, resolve } from "node:path";
import type { ToolCall } from "../../hook/types.js";
import { quoted } from "../../lib/quoted.js";
import { type Fields, toFields, toList, toText } from "../json.js";
import { toolName } from "./updates.js";

/** How a request for permission is answered. */
export interface Answer {
  readonly outcome: { readonly outcome: "selected"; readonly optionId: string } | { readonly outcome: "cancelled" };
}

/** Once and never for good: whoever is allowed always is not asked again. */
export function answerRequest(options: unknown, allow: boolean): Answer {
  const offered = toList(options).map(toFields);
  const kinds = allow ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const chosen = kinds.flatMap((kind) => offered.filter((one) => one.kind === kind))[0];
  if (typeof chosen?.optionId !== "string") return { outcome: { outcome: "cancelled" } };
  return { outcome: { outcome: "selected", optionId: chosen.optionId } };
}

export interface Seen {
  readonly cwd: string;
  /** Is there a program of this name? Some show a command by its description alone. */
  isProgram(name: string): boolean;
}

/**
 * A tool call as the guard knows them: everything it would do, each to be allowed. null: it does not show what it would
 * do, which nobody can allow.
 */
export function toToolCalls(fields: Fields, seen: Seen): readonly ToolCall[] | null {
  const input = toFields(fields.rawInput);
  const command = commandOf(fields, input, seen);
  const changed = toList(fields.content).flatMap((one) => {
    const { type, path } = toFields(one);
    return type === "diff" && typeof path === "string" ? [path] : [];
  });
  const paths = [...new Set([...changed, ...pathsIn(fields, input)])].map((path) => absolute(path, seen.cwd));
  const calls: ToolCall[] = [];
  if (command !== null) calls.push({ kind: "shell", command, cwd: absolute(toText(input.cwd) || ".", seen.cwd) });
  const kind = changed.length > 0 ? "edit" : toText(fields.kind);
  const more = command !== null && kind === "execute" ? [] : callsOf(kind, { fields, input, paths });
  if (more === null) return null;
  return [...calls, ...more];
}

interface Shown {
  readonly fields: Fields;
  readonly input: Fields;
  readonly paths: readonly string[];
}

function callsOf(kind: string, { fields, input, paths }: Shown): readonly ToolCall[] | null {
  const name = toolName(fields);
  switch (kind) {
    case "execute":
      return null;
    case "edit":
    case "delete":
    case "move":
      return paths.length === 0 ? null : [{ kind: "write", paths }];
    case "read":
    case "search":
      return paths.length === 0 ? [{ kind: "other", name, reads: true }] : [{ kind: "read", paths }];
    case "fetch":
      return [{ kind: "fetch", url: toText(input.url) || toText(fields.title) }];
    case "think":
      return [{ kind: "other", name, reads: true }];
    default:
      return [{ kind: "other", name, reads: false }];
  }
}

function commandOf(fields: Fields, input: Fields, { isProgram }: Seen): string | null {
  const given = input.command ?? input.cmd;
  if (typeof given === "string") return given;
  if (Array.isArray(given)) return fromWords(given.map(toText));
  if (fields.kind !== "execute") return null;
  const title = toText(fields.title).trim();
  const first = /^[^\s;|&<>()]+/.exec(title)?.[0] ?? "";
  return builtins.has(first) || /^\w+=/.test(first) || isProgram(first) ? title : null;
}

const builtins = new Set([
  "cd",
  "export",
  "set",
  "source",
  ".",
  "test",
  "[",
  "[[",
  "if",
  "for",
  "while",
  "{",
  "echo",
  "printf",
]);

/** `bash -lc "…"` is what it runs; anything else is quoted word by word. */
function fromWords(words: readonly string[]): string {
  const [shell = "", flags = "", script] = words;
  if (words.length === 3 && script !== undefined && /(^|\/)(ba|z|da)?sh$/.test(shell) && /^-\w*c$/.test(flags))
    return script;
  return words.map(quoted).join(" ");
}

const pathKeys = [
  "file_path",
  "filePath",
  "path",
  "notebook_path",
  "absolute_path",
  "dir_path",
  "abs_path",
  "destination",
];

function pathsIn(fields: Fields, input: Fields): string[] {
  const located = toList(fields.locations).map((one) => toText(toFields(one).path));
  return [...located, ...pathKeys.map((key) => toText(input[key]))].filter((path) => path !== "");
}

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}
