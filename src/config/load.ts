import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, messageOf } from "../lib/errors.js";
import { type Checked, type ConfigContext, checkConfigText } from "./check.js";
import type { Diagnostic } from "./diagnostic.js";
import { maxConfigBytes, tooLarge } from "./yaml-source.js";

export type Loaded =
  | (Extract<Checked, { readonly ok: true }> & { readonly file: string })
  /** file null: there is none. */
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[]; readonly file: string | null };

const names = ["ratchet.yaml", "mala.yaml"] as const;

export const minimalConfig = [
  "commands:",
  "  test: npm test",
  "evidence_check: {required: [test]}",
  "agent: {type: command, command: [my-agent]}",
].join("\n");

/** Reads ratchet.yaml, or mala.yaml where there is none, once; later edits change nothing for who holds the result. */
export async function loadConfig(context: ConfigContext): Promise<Loaded> {
  for (const name of names) {
    const file = join(context.dir, name);
    const read = await readText(file);
    if (read.type === "missing") continue;
    if (read.type === "unreadable") return { ok: false, file, diagnostics: [wholeFile(name, read.message)] };
    return withFile(checkConfigText(read.text, name, context), file);
  }
  const hint = `run \`ratchet init\`, or write a ratchet.yaml such as:\n${minimalConfig}`;
  const misnamed = (await readText(join(context.dir, "ratchet.yml"))).type !== "missing";
  const message = misnamed
    ? "no such file; ratchet.yml is there and is not read: rename it"
    : `no such file in ${context.dir}`;
  return { ok: false, file: null, diagnostics: [{ ...wholeFile("ratchet.yaml", message), hint }] };
}

/** What holds where there is no file: for what needs no agent. */
export function defaultConfig(context: ConfigContext): Checked {
  return checkConfigText("", "ratchet.yaml", context);
}

function withFile(checked: Checked, file: string): Loaded {
  return { ...checked, file };
}

function wholeFile(file: string, message: string): Diagnostic {
  return { severity: "error", file, line: null, column: null, key: "", message };
}

type ReadFile =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "missing" }
  | { readonly type: "unreadable"; readonly message: string };

async function readText(file: string): Promise<ReadFile> {
  try {
    const { size, isFile } = await statOf(file);
    if (!isFile) return { type: "unreadable", message: "expected a file, found something else of that name" };
    if (size > maxConfigBytes) return { type: "unreadable", message: tooLarge(size) };
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(file));
    return { type: "text", text };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { type: "missing" };
    if (error instanceof TypeError) return { type: "unreadable", message: "expected text in UTF-8, found other bytes" };
    return { type: "unreadable", message: `cannot be read: ${messageOf(error)}` };
  }
}

async function statOf(file: string): Promise<{ size: number; isFile: boolean }> {
  const found = await stat(file);
  return { size: found.size, isFile: found.isFile() };
}
