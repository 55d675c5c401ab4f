import { resolve } from "node:path";
import { quoted } from "../lib/quoted.js";
import { patchedFiles } from "./patch-files.js";
import type { ToolCall } from "./types.js";

/** A tool call as claude, codex or pi names it; foreign text until it comes out of here. */
export interface RawCall {
  readonly tool: string;
  readonly input: unknown;
  readonly cwd: string;
}

/** null: it is a tool that we know, but its input is not what we know: nobody can judge it. */
export function normalise({ tool, input, cwd }: RawCall): ToolCall | null {
  const fields = isRecord(input) ? input : {};
  const name = tool.toLowerCase();
  const kind = (Object.hasOwn(kinds, name) ? kinds[name] : undefined) ?? "other";
  switch (kind) {
    case "shell":
      return shellCall(fields, cwd);
    case "patch":
      return patchCall(fields, cwd);
    case "write":
    case "read":
      return fileCall(kind, fields, cwd);
    case "search":
      return { kind: "read", paths: [resolve(cwd, text(fields, ["path"]) ?? ".")] };
    case "fetch":
      return { kind: "fetch", url: text(fields, ["url"]) ?? "" };
    case "look":
      return { kind: "other", name: tool, reads: true };
    case "other":
      return { kind: "other", name: tool, reads: false };
  }
}

const kinds: Readonly<Record<string, "shell" | "patch" | "write" | "read" | "search" | "fetch" | "look" | undefined>> =
  {
    bash: "shell",
    shell: "shell",
    local_shell: "shell",
    exec_command: "shell",
    "container.exec": "shell",
    apply_patch: "patch",
    write: "write",
    edit: "write",
    multiedit: "write",
    notebookedit: "write",
    write_file: "write",
    edit_file: "write",
    create: "write",
    str_replace: "write",
    read: "read",
    notebookread: "read",
    read_file: "read",
    view_image: "read",
    glob: "search",
    grep: "search",
    ls: "search",
    find: "search",
    list_dir: "search",
    grep_files: "search",
    webfetch: "fetch",
    fetch: "fetch",
    websearch: "look",
    web_search: "look",
    todowrite: "look",
    todoread: "look",
    update_plan: "look",
    task: "look",
    agent: "look",
    taskoutput: "look",
    taskstop: "look",
    bashoutput: "look",
    killshell: "look",
    killbash: "look",
    exitplanmode: "look",
    toolsearch: "look",
    structuredoutput: "look",
    skill: "look",
    lsp: "look",
  };

/** Codex gives a text, a list of words, or `bash -lc text` as a list. */
function shellCall(fields: Record<string, unknown>, cwd: string): ToolCall | null {
  const command = fields.command ?? fields.cmd ?? fields.script;
  const folder = resolve(cwd, text(fields, ["workdir", "cwd"]) ?? ".");
  if (typeof command === "string") return { kind: "shell", command, cwd: folder };
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string")) return null;
  const words: readonly string[] = command;
  if (words[0] === "apply_patch" && words[1] !== undefined) return patchCall({ command: words[1] }, folder);
  return { kind: "shell", command: words.map(quoted).join(" "), cwd: folder };
}

function patchCall(fields: Record<string, unknown>, cwd: string): ToolCall | null {
  const patch = text(fields, ["command", "input", "patch", "patch_text"]);
  const paths = patch === null ? [] : patchedFiles(patch);
  return paths.length === 0 ? null : { kind: "write", paths: paths.map((path) => resolve(cwd, path)) };
}

function fileCall(kind: "write" | "read", fields: Record<string, unknown>, cwd: string): ToolCall | null {
  const path = text(fields, ["file_path", "notebook_path", "path", "filePath", "filename"]);
  return path === null || path === "" ? null : { kind, paths: [resolve(cwd, path)] };
}

function text(fields: Record<string, unknown>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") return value;
  }
  return null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
