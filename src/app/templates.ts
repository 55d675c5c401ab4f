import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PromptKind } from "../core/issue/effects.js";
import { UserError } from "../lib/errors.js";
import { exists } from "../lib/files.js";
import { packageRoot } from "./package-root.js";

/** The shipped templates, each replaced by the project's own where .ratchet/prompts/ has one. */
export async function loadTemplates(repoPath: string): Promise<Record<PromptKind, string>> {
  const { checkTemplate, promptKinds, TemplateError } = await import("../prompts/templates.js");
  const shipped = join(packageRoot(), "prompts");
  const own = join(repoPath, ".ratchet", "prompts");
  const read = async (kind: PromptKind) => {
    const file = (await exists(join(own, `${kind}.md`))) ? join(own, `${kind}.md`) : join(shipped, `${kind}.md`);
    const text = await readFile(file, "utf8");
    try {
      checkTemplate(kind, text, file);
    } catch (error) {
      throw error instanceof TemplateError ? new UserError(error.message) : error;
    }
    return [kind, text] as const;
  };
  return Object.fromEntries(await Promise.all(promptKinds.map(read))) as Record<PromptKind, string>;
}
