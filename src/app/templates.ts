import { lstatSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Diagnostic } from "../config/diagnostic.js";
import type { PromptKind } from "../core/issue/effects.js";
import { nearest } from "../core/suggest.js";
import { codeOf, messageOf, UserError } from "../lib/errors.js";
import { readPlainFile } from "../lib/files.js";
import { packageRoot } from "./package-root.js";

/** Where a project has prompts of its own. */
const ownFolder = join(".ratchet", "prompts");

/** What is at the end of every prompt. */
const append = "append" as const;

export interface Prompts {
  readonly templates: Record<PromptKind, string>;
  /** The project's own words for every prompt; null: none. */
  readonly projectText: string | null;
}

/** The shipped templates, each replaced by the project's own where it has one; all that is wrong with those is told at once. */
export async function loadPrompts(repoPath: string): Promise<Prompts> {
  const { promptKinds } = await import("../prompts/templates.js");
  const own = await readAllOwn(repoPath);
  const wrong = own.flatMap(({ file, problem }) => (problem === null ? [] : [`${join(repoPath, file)} ${problem}`]));
  if (wrong.length > 0) throw new UserError(wrong.join("\n"));
  const texts = new Map(own.map(({ name, text }) => [name, text]));
  const shipped = (kind: PromptKind) => readFile(join(packageRoot(), "prompts", `${kind}.md`), "utf8");
  const load = async (kind: PromptKind) => [kind, texts.get(kind) ?? (await shipped(kind))] as const;
  const templates = Object.fromEntries(await Promise.all(promptKinds.map(load))) as Record<PromptKind, string>;
  return { templates, projectText: texts.get(append) ?? null };
}

/** What a run refuses in the project's own prompts, and files that look like one and are none. */
export async function checkPrompts(repoPath: string): Promise<Diagnostic[]> {
  const { promptKinds } = await import("../prompts/templates.js");
  const own = await readAllOwn(repoPath);
  const refused = own.flatMap(({ file, problem }) => (problem === null ? [] : [remark("error", file, problem)]));
  return [...refused, ...misnamed(namesInOwn(repoPath).names, [...promptKinds, append])];
}

interface OwnPrompt {
  readonly name: PromptKind | typeof append;
  readonly file: string;
  readonly text: string;
  /** Why it cannot be used; null: it can. */
  readonly problem: string | null;
}

async function readAllOwn(repoPath: string): Promise<OwnPrompt[]> {
  const { promptKinds, templateProblem } = await import("../prompts/templates.js");
  const { names, problem } = namesInOwn(repoPath);
  if (problem !== null) return [{ name: append, file: ownFolder, text: "", problem }];
  const found: OwnPrompt[] = [];
  for (const name of [...promptKinds, append]) {
    const file = join(ownFolder, `${name}.md`);
    // By its name alone: a link that leads nowhere takes the place of a prompt, too.
    if (!names.includes(`${name}.md`)) continue;
    try {
      const text = await readPlainFile(join(repoPath, file));
      found.push({ name, file, text, problem: name === append ? null : templateProblem(name, text) });
    } catch (error) {
      found.push({ name, file, text: "", problem: unreadable(error) });
    }
  }
  return found;
}

function unreadable(error: unknown): string {
  return `cannot be read: ${messageOf(error)}`;
}

function namesInOwn(repoPath: string): { readonly names: readonly string[]; readonly problem: string | null } {
  const folder = join(repoPath, ownFolder);
  try {
    const isThere = lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
    return { names: isThere ? readdirSync(folder) : [], problem: null };
  } catch (error) {
    // Something of somebody else's: a file of that name.
    return { names: [], problem: codeOf(error) === "ENOTDIR" ? null : unreadable(error) };
  }
}

/** Others may have files there, too, such as the prompts of their workflows: only what is nearly the name of one is told. */
function misnamed(files: readonly string[], known: readonly string[]): Diagnostic[] {
  return files.flatMap((file) => {
    const [, name = ""] = /^(.+)\.(?:md|markdown|txt)$/i.exec(file) ?? [];
    const near = known.some((one) => file === `${one}.md`) ? null : nearest(name, known);
    const hint = `did you mean ${near}.md?`;
    return near === null
      ? []
      : [{ ...remark("warning", join(ownFolder, file), "no prompt is called so, ignored"), hint }];
  });
}

function remark(severity: Diagnostic["severity"], file: string, message: string): Diagnostic {
  return { severity, file, line: null, column: null, key: "", message };
}
