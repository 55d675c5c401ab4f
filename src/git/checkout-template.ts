import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Mirror } from "./mirror-refs.js";
import { writeIfChanged } from "./small-files.js";

/** What every new checkout starts with, made at each start from the user's repository. */
export interface CheckoutTemplate {
  readonly config: string;
  readonly exclude: string;
  readonly attributes: string;
  readonly packedRefs: string;
}

function templateFile(mirror: Mirror): string {
  return join(mirror.path, "ratchet", "checkout.json");
}

export async function writeTemplate(mirror: Mirror, template: CheckoutTemplate): Promise<void> {
  await writeIfChanged(templateFile(mirror), JSON.stringify(template));
}

export async function readTemplate(mirror: Mirror): Promise<CheckoutTemplate> {
  const read: unknown = JSON.parse(await readFile(templateFile(mirror), "utf8"));
  const part = (name: string) => {
    const value =
      typeof read === "object" && read !== null ? Object.entries(read).find(([key]) => key === name)?.[1] : null;
    return typeof value === "string" ? value : "";
  };
  return {
    config: part("config"),
    exclude: part("exclude"),
    attributes: part("attributes"),
    packedRefs: part("packedRefs"),
  };
}
