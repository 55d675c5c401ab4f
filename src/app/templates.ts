import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Diagnostic } from "../config/diagnostic.js";
import type { PromptKind } from "../core/issue/effects.js";
import { nearest } from "../core/suggest.js";
import { messageOf, UserError } from "../lib/errors.js";
import { exists, namesIn } from "../lib/files.js";
import { packageRoot } from "./package-root.js";

/** Where a project has prompts of its own. */
const ownFolder = join(".ratchet", "prompts");

/** The shipped templates, each replaced by the project's own where it has one; all that is wrong with those is told at once. */
export async function loadTemplates(repoPath: string): Promise<Record<PromptKind, string>> {
  const { promptKinds } = await import("../prompts/templates.js");
  const load = async (kind: PromptKind) => {
    const own = await readOwn(repoPath, kind);
    const text = own?.text ?? (await readFile(join(packageRoot(), "prompts", `${kind}.md`), "utf8"));
    return { kind, text, wrong: own?.problem == null ? [] : [`${join(repoPath, own.file)} ${own.problem}`] };
  };
  const loaded = await Promise.all(promptKinds.map(load));
  const wrong = loaded.flatMap((one) => one.wrong);
  if (wrong.length > 0) throw new UserError(wrong.join("\n"));
  return Object.fromEntries(loaded.map(({ kind, text }) => [kind, text])) as Record<PromptKind, string>;
}

/** What a run refuses in the project's own prompts, and files that look like one and are none. */
export async function checkPrompts(repoPath: string): Promise<Diagnostic[]> {
  const { promptKinds } = await import("../prompts/templates.js");
  const own = await Promise.all(promptKinds.map((kind) => readOwn(repoPath, kind)));
  const refused = own.flatMap((one) => (one?.problem == null ? [] : [remark("error", one.file, one.problem)]));
  return [...refused, ...misnamed(namesIn(join(repoPath, ownFolder)), [...promptKinds, "append"])];
}

interface OwnTemplate {
  readonly file: string;
  readonly text: string;
  /** Why it cannot be used; null: it can. */
  readonly problem: string | null;
}

/** null: the project has none. */
async function readOwn(repoPath: string, kind: PromptKind): Promise<OwnTemplate | null> {
  const { templateProblem } = await import("../prompts/templates.js");
  const file = join(ownFolder, `${kind}.md`);
  if (!(await exists(join(repoPath, file)))) return null;
  try {
    const text = await readFile(join(repoPath, file), "utf8");
    return { file, text, problem: templateProblem(kind, text) };
  } catch (error) {
    return { file, text: "", problem: `cannot be read: ${messageOf(error)}` };
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
