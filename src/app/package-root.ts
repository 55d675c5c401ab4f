import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the prompts are: however deep the bundler puts this module, it is above it. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "prompts", "implementer.md")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
